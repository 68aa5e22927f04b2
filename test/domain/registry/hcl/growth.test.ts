import { describe, expect, it } from 'vitest';
import type { TemplateFiles } from '#domain/registry/files.ts';
import { findBlocks } from '#domain/registry/hcl/blocks.ts';
import { findStateNotes } from '#domain/registry/hcl/state-notes.ts';
import { tokenizeHcl } from '#domain/registry/hcl/tokens.ts';

/** The shortest of several tries, so that other work of the machine counts little. */
function timeOf(work: () => unknown): number {
  const tries = Array.from({ length: 3 }, () => {
    const startedAt = performance.now();
    work();
    return performance.now() - startedAt;
  });
  return Math.min(...tries);
}

/** How many times longer eight times as much takes: 8 if the time is in proportion, 64 if it grows with the square. */
function growth(work: (size: number) => unknown, size: number): number {
  work(size);
  return timeOf(() => work(8 * size)) / timeOf(() => work(size));
}

const limit = 30;

describe('the time to read hostile text', () => {
  it.each<[string, (size: number) => string]>([
    ['a heredoc marker without a line feed', (size) => `<<${'A'.repeat(size)}`],
    ['many heredoc markers without a line feed', (size) => '<<A '.repeat(size)],
    ['many heredocs without an end', (size) => '<<A\n'.repeat(size)],
    ['quotes that are not closed', (size) => '"${'.repeat(size)],
  ])('grows in proportion to %s', (_, textOf) => {
    expect(growth((size) => [...tokenizeHcl(textOf(size))].length, 20_000)).toBeLessThan(limit);
  });

  it('grows in proportion to the members of a JSON file', () => {
    const read = (size: number) => {
      const members = Array.from({ length: size }, (_, index) => `"m${index}": {}`).join(',');
      return findBlocks({ name: 'main.tf.json', text: `{"terraform": {${members}}}` });
    };
    expect(growth(read, 2_000)).toBeLessThan(limit);
  });

  it('does not multiply the files by the links that lead to them', () => {
    const read = (size: number) => {
      const files: TemplateFiles = {};
      for (let index = 0; index < size; index++) {
        files[`d/${index}/a.tf`] = 'locals {}\n';
        files[`link-${index}`] = { link: 'd' };
      }
      return findStateNotes(files);
    };
    expect(growth(read, 12)).toBeLessThan(8 * limit);
  });
});
