import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CodeBlock, codeBlocks, root } from './markdown.ts';

/** A copy of the project with the area that docs/adding-an-area.md adds. */

const document = 'docs/adding-an-area.md';
const copied = ['src', 'test', 'migrations', 'docs', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

/** Copies the project to a new directory, and adds the area. Its packages are those of the project. */
export function copyWithArea(directory: string): void {
  for (const name of copied) cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  cpSync(join(root, '.dependency-cruiser.cjs'), join(directory, '.dependency-cruiser.cjs'));
  for (const { path, text } of blocksOf('ts file')) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  for (const { path, text } of blocksOf('diff')) {
    const file = join(directory, path);
    writeFileSync(file, addLines(readFileSync(file, 'utf8'), text));
  }
}

/** How many lines the document adds to files outside the area's folders, by the folder of the project. */
export function countAddedLines(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { path, text } of blocksOf('diff')) {
    const folder = path.split('/')[0] ?? path;
    counts[folder] = (counts[folder] ?? 0) + text.split('\n').filter((line) => line.startsWith('+')).length;
  }
  return counts;
}

/** The folders of the files that the document has in full. */
export function foldersOfArea(): string[] {
  return [...new Set(blocksOf('ts file').map(({ path }) => dirname(path).split('/').slice(0, 3).join('/')))].sort();
}

function blocksOf(kind: string): { path: string; text: string }[] {
  const blocks: CodeBlock[] = codeBlocks(document).filter(({ info }) => info.startsWith(`${kind} `));
  return blocks.map(({ info, text }) => ({ path: info.slice(kind.length + 1), text }));
}

/** Adds the lines of a block behind the lines that stand before them there, or else before those behind them. */
function addLines(content: string, block: string): string {
  const lines = content.split('\n');
  const groups = [...block.matchAll(/(?:^\+.*\n)+|(?:^(?!\+).*\n)+/gm)].map(([group]) => ({
    isNew: group.startsWith('+'),
    lines: group.replace(/^[ +]/gm, '').trimEnd().split('\n'),
  }));
  for (const [index, { isNew, lines: added }] of groups.entries()) {
    const [before, behind] = [groups[index - 1]?.lines, groups[index + 1]?.lines ?? []];
    if (isNew) lines.splice(before ? placeOf(lines, before) + before.length : placeOf(lines, behind), 0, ...added);
  }
  return lines.join('\n');
}

/** @throws Error unless these lines stand together at exactly one place: the document is out of date */
function placeOf(lines: readonly string[], wanted: readonly string[]): number {
  const places = lines.flatMap((_line, at) => (wanted.every((each, index) => lines[at + index] === each) ? [at] : []));
  const [place] = places;
  if (place === undefined || places.length > 1)
    throw new Error(`${document}: ${places.length} places have the lines "${wanted.join('\n')}"`);
  return place;
}
