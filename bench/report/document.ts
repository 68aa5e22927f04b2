import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Benchmark } from '../benchmark.ts';

const path = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));

const introduction = `# Benchmarks

\`npm run bench\` printed every figure on this page, on the machine that is named below its table. Each benchmark measures both
arms alternately within one run. A ratio compares medians, and the spread over the rounds is in parentheses. Absolute figures depend
on the machine. Compare the ratios instead.
`;

/** Writes a benchmark's section of docs/benchmarks.md, and replaces an earlier one. */
export function saveSection({ name, about }: Benchmark, figures: string, machine: string): void {
  const document = existsSync(path) ? readFileSync(path, 'utf8') : introduction;
  const [begin, end] = [`<!-- measure: ${name} -->`, `<!-- end: ${name} -->`];
  const section = [
    begin,
    `## ${name}`,
    '',
    about,
    '',
    figures,
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
