import { appendFileSync, readFileSync } from 'node:fs';
import type { Mutant } from './places.ts';
import { Trials } from './trials.ts';

/** Tries the mutants of a file in a copy of the project, and appends each verdict. The parent process ends it when a mutant never ends. */
const [, , root = '', list = '', results = ''] = process.argv;
const mutants: (Mutant & { number: number })[] = JSON.parse(readFileSync(list, 'utf8'));
const trials = await Trials.open(root);
for (const mutant of mutants) {
  process.send?.({ begun: mutant.number });
  const startedAt = Date.now();
  const verdict = await trials.try(mutant);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  appendFileSync(results, `${JSON.stringify({ ...mutant, ...verdict, seconds })}\n`);
  console.log(`${mutant.number} ${verdict.verdict} ${mutant.file}:${mutant.line} ${mutant.operator} (${seconds} s)`);
}
await trials.close();
process.exit(0);
