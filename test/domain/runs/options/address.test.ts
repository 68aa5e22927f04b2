import { describe, expect, it } from 'vitest';
import { isAddress } from '#domain/runs/options/rules.ts';

describe('isAddress', () => {
  it.each([
    'random_pet.name',
    'module.app',
    'module.app["a.b/c"].random_pet.name[0]',
    'data.http.page',
    'random_pet.name["q\\"x"]',
    ' module.m . terraform_data.y [ "k" ] ',
    'random_pet.name.0',
    'terraform_data.ümlaut-1',
  ])('accepts %j, which both tools read', (text) => {
    expect(isAddress(text)).toBe(true);
  });

  it.each([
    '',
    ' ',
    "random_pet.p['sp ace']",
    'random_pet.name[',
    'random_pet.name["a]',
    'random_pet..name',
    'random_pet.name[a]',
    'random_pet.name[*]',
    '0.name',
    'random_pet.name extra',
    'a.b\n["c"',
  ])('refuses %j, which no tool reads', (text) => {
    expect(isAddress(text)).toBe(false);
  });

  it.each([' ', '.a', '["', '\\"', '[ '])('refuses 100,000 times %j in one pass', (part) => {
    expect(isAddress(`a${part.repeat(100_000)}!`)).toBe(false);
  });
});
