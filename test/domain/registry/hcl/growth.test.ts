import { describe, expect, it } from 'vitest';
import { findBlocks } from '#domain/registry/hcl/blocks.ts';
import { readModule } from '#domain/registry/hcl/module.ts';
import { scanHcl } from '#domain/registry/hcl/tokens.ts';

/** So much that work which grows with the square of the text would take minutes. */
const size = 400_000;
const fill = (part: string) => part.repeat(size / part.length);

describe('hostile text of the largest size', () => {
  it.each<[string, string]>([
    ['a heredoc mark without a line feed', `<<${fill('A')}`],
    ['heredoc marks without a line feed', fill('<<A ')],
    ['heredocs without an end', fill('<<A\n')],
    ['a heredoc with a long margin', `<<A\n${fill(' ')}x\nA\n`],
    ['quotes that are not closed', fill('"${')],
    ['texts', fill('"a" ')],
    ['escapes', `"${fill('\\x')}`],
    ['signs of templates', `"${fill('$')}`],
    ['a comment that is not closed', `/*${fill('*')}`],
    ['slashes', fill('/a')],
    ['a word', fill('a')],
    ['a word beyond the Basic Multilingual Plane', fill('𠀀')],
    ['a number', fill('1')],
    ['a number with many points', fill('1.')],
    ['brackets', fill('[')],
    ['braces', fill('{')],
  ])('is read if it is %s', (_, text) => {
    expect(() => scanHcl(text)).not.toThrow();
    expect(() => readModule({ 'main.tf': text }, '', 'opentofu')).not.toThrow();
  });

  it('is refused if it is longer', () => {
    expect(scanHcl(' '.repeat(5_000_000)).problem).toEqual({ line: 1, message: 'the file is too long' });
  });

  it.each<[string, string]>([
    ['many members', `{"terraform": {${Array.from({ length: 40_000 }, (_, index) => `"m${index}": {}`).join(',')}}}`],
    ['many repeated members', `{${Array.from({ length: 40_000 }, () => '"locals": {}').join(',')}}`],
    ['lists in lists', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects in objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
    ['a deep value', `{"variable": {"a": {"default": ${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`],
  ])('is read if it is JSON with %s', (_, text) => {
    expect(() => [...findBlocks({ name: 'main.tf.json', text })]).not.toThrow();
    expect(() => readModule({ 'main.tf.json': text }, '', 'opentofu')).not.toThrow();
  });
});
