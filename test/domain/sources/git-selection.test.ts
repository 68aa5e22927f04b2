import { describe, expect, it } from 'vitest';
import { snapshotLimits } from '#domain/sources/files.ts';
import { parseTree } from '#domain/sources/git/entries.ts';
import { collectFiles } from '#domain/sources/git/tree.ts';

/** Selects the files of the directory `live` from a commit, as git lists it. A link's content is its target. */
function select(contents: Readonly<Record<string, string>>, links: readonly string[] = []) {
  const listed = Object.entries(contents).map(([path, content], index) => {
    const mode = links.includes(path) ? '120000' : '100644';
    return `${mode} blob ${index.toString(16).padStart(40, '0')} ${content.length}\t${path}\0`;
  });
  const texts = Object.values(contents);
  return collectFiles(parseTree(Buffer.from(listed.join(''))), 'live', snapshotLimits, {
    read: async (objects) =>
      new Map(objects.map((object) => [object, Buffer.from(texts[Number.parseInt(object, 16)] ?? '')])),
    checkOut: async () => new Map(),
  });
}

const names = (count: number, name: (index: number) => string) =>
  `locals {\n  a = [\n${Array.from({ length: count }, (_, index) => `    "${name(index)}",\n`).join('')}  ]\n}\n`;

describe('the selection of files from a hostile repository', () => {
  it('looks up each directory once, however often and in whatever spelling it is named', async () => {
    const others = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`d/${index}.txt`, 'x']));
    const loop = { 'live/l': '.' };
    const main = names(
      9_000,
      (index) => `../live/${'l/'.repeat(index % 30)}../d/${'./'.repeat(index % 300)}${index}/..`,
    );
    const { files, leftOut } = await select({ 'live/main.tf': main, ...loop, ...others }, ['live/l']);
    expect(Object.keys(files).sort()).toEqual(['live/l', 'live/main.tf']);
    expect(leftOut).toEqual(['d']);
  });

  it('is refused by name if the files name too many paths', async () => {
    const main = names(10_001, (index) => `../${index}`);
    await expect(select({ 'live/main.tf': main })).rejects.toThrow('more than 10000 paths');
    const modules = Array.from({ length: 10_001 }, (_, at) => `module "m${at}" {\n  source = "../${at}"\n}\n`);
    await expect(select({ 'live/main.tf': modules.join('') })).rejects.toThrow('more than 10000 paths');
  });

  it('does not follow paths with excessively many steps', async () => {
    const slow = `${'d/../'.repeat(800)}d`;
    const links = Object.fromEntries(
      Array.from({ length: 39 }, (_, index) => [`l${index}`, `${slow}/../l${index + 1}`]),
    );
    const files = { 'live/main.tf': names(9_000, (index) => `../l0/${index}`), 'd/x': '', l39: 'd', ...links };
    expect(Object.keys((await select(files, [...Object.keys(links), 'l39'])).files)).toEqual(['live/main.tf']);
  });

  it('accepts paths of thousands of levels', async () => {
    const deep = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`x${index}/${'a/'.repeat(4_000)}f`, '']),
    );
    const { files, leftOut } = await select({ 'live/main.tf': 'locals {}\n', ...deep });
    expect([Object.keys(files), leftOut]).toEqual([['live/main.tf'], []]);
  });
});
