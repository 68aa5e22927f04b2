import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads the project's Markdown: code blocks, prose, tables and headings. */

export const root = join(import.meta.dirname, '..', '..');

export interface CodeBlock {
  readonly file: string;
  readonly line: number;
  /** The text after the opening fence: a language, and what the block is for. */
  readonly info: string;
  readonly text: string;
}

/** The paths of all Markdown files, relative to the project's root. */
export function markdownFiles(): string[] {
  const top = readdirSync(root).filter((name) => name.endsWith('.md'));
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return [...top, ...docs.map((name) => join('docs', name))];
}

export function readMarkdown(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The fenced code blocks of a file. */
export function codeBlocks(file: string): CodeBlock[] {
  const text = readMarkdown(file);
  return [...text.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map(({ index, 1: info = '', 2: content = '' }) => ({
    file,
    info: info.trim(),
    text: content,
    line: text.slice(0, index).split('\n').length,
  }));
}

/** The text of a file without its code blocks. */
export function prose(file: string): string {
  return readMarkdown(file).replace(/^```[^\n]*\n.*?^```$/gms, '');
}

/** The cells of the table after a heading, without its header. `skip` skips that many tables. */
export function tableUnder(file: string, heading: string, skip = 0): string[][] {
  const text = `\n${readMarkdown(file)}`;
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`${file} has no heading "${heading}"`);
  const tables = [...text.slice(start).matchAll(/(?:^\|.*\n)+/gm)].map(([table]) => table.trim().split('\n'));
  const rows = tables[skip]?.slice(2) ?? [];
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The anchors of a file's headings. */
export function anchorsOf(file: string): string[] {
  return [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
