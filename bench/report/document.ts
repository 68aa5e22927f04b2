import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Benchmark } from '../benchmark.ts';

const path = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));

const introduction = `# Benchmarks

Every figure here was printed by \`npm run bench\` on the machine named beside it, both arms in turns within one run. Ratios are
of medians; in brackets is the spread over the rounds. Absolute figures are that machine's; the ratios are what travels.
`;

/** Writes a measure's section of docs/benchmarks.md, in the place of an earlier one. */
export function saveSection({ name, about }: Benchmark, table: string, machine: string): void {
  const document = existsSync(path) ? readFileSync(path, 'utf8') : introduction;
  const [begin, end] = [`<!-- measure: ${name} -->`, `<!-- end: ${name} -->`];
  const section = [
    begin,
    `## ${name}`,
    '',
    about,
    '',
    table,
    '',
    `\`npm run bench -- ${name} --save\` on ${machine}.`,
    end,
  ].join('\n');
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  const isThere = from >= 0 && to > from;
  const changed = isThere
    ? document.slice(0, from) + section + document.slice(to + end.length)
    : `${document.trimEnd()}\n\n${section}\n`;
  writeFileSync(path, changed);
}
