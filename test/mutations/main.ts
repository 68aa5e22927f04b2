import { type ChildProcess, fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { reasonOfEquivalence } from './equivalent.ts';
import { drawMutants, type Mutant } from './places.ts';
import { isTestedAlone } from './related-tests.ts';

/**
 * `npm run test:mutations -- --seed 42 --count 200`: changes places of rules and of declared access, one at a time and in a copy, and runs the
 * tests that are related to each. A mutant that lives is a test that is missing, or changes nothing that anybody could see: `equivalent.ts` lists
 * those with the reason. Stryker cannot do this here: it runs tests in threads, where the native module of Temporal does not load, and runs all of
 * them first.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    count: { type: 'string', default: '200' },
    workers: { type: 'string', default: '1' },
    /** Tries only these of the mutants drawn, by their numbers. */
    only: { type: 'string', multiple: true },
    /** Draws only places in files whose path begins so, such as `src/api/`: those are of declared access. */
    below: { type: 'string', default: 'src/' },
    /** Where the verdicts are written. Those that it has of the same draw are not tried again. */
    out: { type: 'string' },
  },
});

/** An endless loop is a mutant that the tests have found. */
const longestMs = 10 * 60_000;
const copied = [
  'src',
  'test',
  'docs',
  'migrations',
  'scripts',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'README.md',
];

type Numbered = Mutant & { readonly number: number };
type Tried = Numbered & { readonly verdict: string; readonly by: string | null };

const directory = mkdtempSync(join(tmpdir(), 'coordinator-mutations-'));
const results = values.out ? resolve(values.out) : join(directory, 'results.jsonl');
setPriority(constants.priority.PRIORITY_LOW);
console.log(`--seed ${values.seed} --count ${values.count} --below ${values.below}`);
const drawn = drawMutants(Number(values.seed), Number(values.count), values.below).map((mutant, index) => ({
  ...mutant,
  number: index + 1,
}));
writeFileSync(results, '', { flag: 'a' });
const done = readTried();
const wanted = drawn
  .filter(({ number }) => values.only === undefined || values.only.includes(String(number)))
  .filter((mutant) => !done.some((each) => isSame(each, mutant)));
// Those that tests without a service can kill come first: they take seconds.
const chosen = [
  ...wanted.filter(({ file }) => isTestedAlone(file)),
  ...wanted.filter(({ file }) => !isTestedAlone(file)),
];
const workers = Number(values.workers);
await Promise.all(
  Array.from({ length: workers }, (_, worker) =>
    tryAll(
      worker,
      chosen.filter((_each, index) => index % workers === worker),
    ),
  ),
);
const tried = readTried();
report(tried);
rmSync(directory, { recursive: true, force: true });
process.exitCode = tried.some((mutant) => mutant.verdict === 'survived' && !reasonOfEquivalence(mutant)) ? 1 : 0;

/** Tries mutants in a copy of its own, and goes on with the next one after one that never ended. */
async function tryAll(worker: number, mutants: Numbered[]): Promise<void> {
  const root = join(directory, `copy-${worker}`);
  for (const name of copied) cpSync(name, join(root, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  const list = join(directory, `mutants-${worker}.json`);
  for (let left = mutants; left.length > 0; ) {
    writeFileSync(list, JSON.stringify(left));
    const code = await runWorker(root, list);
    const done = new Set(readTried().map(({ number }) => number));
    const given = left.length;
    left = left.filter(({ number }) => !done.has(number));
    if (code && left.length === given) throw new Error('the worker failed before its first verdict; it printed why');
    const [stuck] = left;
    if (!stuck) return;
    cpSync(stuck.file, join(root, stuck.file));
    writeFileSync(results, `${JSON.stringify({ ...stuck, verdict: 'timed out', by: null })}\n`, { flag: 'a' });
    left = left.slice(1);
  }
}

/** Returns how the worker exited; null if it was ended. */
async function runWorker(root: string, list: string): Promise<number | null> {
  const arguments_ = [root, list, results];
  const child = fork('test/mutations/worker.ts', arguments_, { cwd: root, detached: true });
  let timer = setTimeout(() => endGroup(child), longestMs);
  child.on('message', () => {
    clearTimeout(timer);
    timer = setTimeout(() => endGroup(child), longestMs);
  });
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  return code;
}

/** The test processes of the worker are in its group. */
function endGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}

function isSame(one: Numbered, other: Numbered): boolean {
  return one.number === other.number && one.file === other.file && one.start === other.start && one.text === other.text;
}

function readTried(): Tried[] {
  const lines = readFileSync(results, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

function report(all: readonly Tried[]): void {
  const counts = Object.groupBy(all, ({ verdict }) => verdict);
  for (const [verdict, mutants = []] of Object.entries(counts)) console.log(`${verdict}: ${mutants.length}`);
  for (const mutant of all) {
    const { number, verdict, file, line, operator, before, text } = mutant;
    const reason = reasonOfEquivalence(mutant);
    if (verdict === 'killed') continue;
    console.log(`${number} ${reason ? 'equivalent' : verdict} ${file}:${line} ${operator}\n  - ${before}\n  + ${text}`);
    if (reason) console.log(`  ${reason}`);
  }
}
