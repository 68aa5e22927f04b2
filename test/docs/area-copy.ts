import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CodeBlock, codeBlocks, root } from './markdown.ts';

/** A copy of the project with what the documents for contributors add: an area, and a field. */

const area = 'docs/adding-an-area.md';
const field = 'docs/adding-a-field.md';
const copied = ['src', 'test', 'migrations', 'docs', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

/** Copies the project to a new directory, and adds the area and the field. Its packages are those of the project. */
export function copyWithAdditions(directory: string): void {
  for (const name of copied) cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  cpSync(join(root, '.dependency-cruiser.cjs'), join(directory, '.dependency-cruiser.cjs'));
  for (const document of [area, field]) addTo(directory, document);
}

function addTo(directory: string, document: string): void {
  for (const { path, text } of blocksOf(document, 'ts file')) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  for (const { path, text } of blocksOf(document, 'diff')) {
    const file = join(directory, path);
    const change = /^-/m.test(text) ? replaceLines : addLines;
    writeFileSync(file, change(readFileSync(file, 'utf8'), text));
  }
}

/** How many lines the area adds to files outside its folders, by the folder of the project. */
export const countLinesOfArea = () => countAddedLines(area);
/** How many lines the field adds to or changes in files, by the folder of the project. */
export const countLinesOfField = () => countAddedLines(field);

function countAddedLines(document: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { path, text } of blocksOf(document, 'diff')) {
    const folder = path.split('/')[0] ?? path;
    counts[folder] = (counts[folder] ?? 0) + text.split('\n').filter((line) => line.startsWith('+')).length;
  }
  return counts;
}

/** The folders of the files that the document has in full. */
export function foldersOfArea(): string[] {
  return [
    ...new Set(blocksOf(area, 'ts file').map(({ path }) => dirname(path).split('/').slice(0, 3).join('/'))),
  ].sort();
}

function blocksOf(document: string, kind: string): { path: string; text: string }[] {
  const blocks: CodeBlock[] = codeBlocks(document).filter(({ info }) => info.startsWith(`${kind} `));
  return blocks.map(({ info, text }) => ({ path: info.slice(kind.length + 1), text }));
}

/** Replaces the lines of a block that are taken away by those that are added. */
function replaceLines(content: string, block: string): string {
  const side = (sign: string) =>
    block
      .trimEnd()
      .split('\n')
      .filter((line) => line.startsWith(sign))
      .map((line) => line.slice(1));
  const lines = content.split('\n');
  lines.splice(placeOf(lines, side('-')), side('-').length, ...side('+'));
  return lines.join('\n');
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
    throw new Error(`${places.length} places have the lines "${wanted.join('\n')}"`);
  return place;
}
