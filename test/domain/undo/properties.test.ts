import { describe, expect, it } from 'vitest';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { type DeployedRun, History } from '#domain/undo/change/history.ts';
import { type DeployedInputs, inputsOf, type Leaves, leavesOf } from '#domain/undo/change/leaves.ts';
import { findCandidate, judgeChanges } from '#domain/undo/change/verdicts.ts';
import { openRandom, type Random } from '#test/faults/harness/random.ts';
import { readSeed } from '#test/support/seed.ts';

/** The title of a failing test contains its seed (`UNDO_SEED`). */
const seed = readSeed('UNDO_SEED');
const histories = Number(process.env['UNDO_HISTORIES'] ?? 400);

/** One of the variables is secret. The test needs no HMAC as its hash. */
const secrets = { names: new Set(['a']), hash: (value: JsonValue) => JSON.stringify(value) };

const names = ['a', 'b', 'c/d', '__proto__', ''];

function randomValue(random: Random, depth = 0): JsonValue {
  if (depth < 3 && random.chance(0.5)) return randomObject(random, depth + 1);
  return random.pick<JsonValue>([null, true, 0, 1, 'x', '', [], [1, { a: 1 }], [2]]);
}

function randomObject(random: Random, depth: number): { [name: string]: JsonValue } {
  const chosen = names.filter(() => random.chance(0.4));
  return Object.fromEntries(chosen.map((name) => [name, randomValue(random, depth)]));
}

/** Changes a few members, as people do, so that runs often change different paths. */
function change(random: Random, object: Readonly<Record<string, JsonValue>>, depth = 0): Record<string, JsonValue> {
  const entries = new Map(Object.entries(object));
  const name = random.pick(names);
  const present = entries.get(name);
  if (random.chance(0.2)) entries.delete(name);
  else if (isObject(present) && random.chance(0.8)) entries.set(name, change(random, present, depth + 1));
  else entries.set(name, randomValue(random, depth));
  return Object.fromEntries(entries);
}

function isObject(value: JsonValue | undefined): value is { [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function randomHistory(random: Random): DeployedRun[] {
  let inputs: DeployedInputs = { version: '1.0.0', variables: randomObject(random, 0), environment: {} };
  return Array.from({ length: random.whole(2, 8) }, (_, number) => {
    inputs = {
      version: random.chance(0.2) ? `1.0.${number}` : inputs.version,
      variables: random.chance(0.1) ? randomObject(random, 0) : change(random, inputs.variables),
      environment: {},
    };
    return { id: `run-${number}`, leaves: leavesOf(inputs, secrets), undoes: null };
  });
}

/** Undoes a run as a promotion does; null if a path of its change is not clean. */
function undo(runs: readonly DeployedRun[], id: string): DeployedRun[] | null {
  const history = new History(runs);
  const candidate = findCandidate(history, history.find(id)!, judgeChanges(history, history.find(id)!));
  return candidate && [...runs, { id: `undo-${runs.length}`, leaves: candidate, undoes: id }];
}

function lastOf(runs: readonly DeployedRun[]): DeployedInputs {
  return inputsOf(runs.at(-1)!.leaves);
}

/** The inputs that there would be if a run had never happened: every other run makes its own change. */
function withoutRun(runs: readonly DeployedRun[], id: string): Leaves {
  const leaves = new Map<string, Leaves extends ReadonlyMap<string, infer Leaf> ? Leaf : never>();
  const history = new History(runs);
  for (const run of runs) {
    if (run.id === id) continue;
    for (const { path, after } of history.find(run.id)!.changes) {
      if (after === undefined) leaves.delete(path);
      else leaves.set(path, after);
    }
  }
  return leaves;
}

function forEachHistory(purpose: string, check: (runs: DeployedRun[], random: Random) => number): number {
  let checked = 0;
  for (let number = 0; number < histories; number += 1) {
    const random = openRandom(seed + number, purpose);
    checked += check(randomHistory(random), random);
  }
  return checked;
}

describe(`in random histories (seed ${seed})`, () => {
  it('converting inputs into leaves and back changes nothing', () => {
    forEachHistory('leaves', (runs) => {
      for (const { leaves } of runs) expect(leavesOf(inputsOf(leaves), secrets)).toEqual(leaves);
      return 1;
    });
  });

  it('undoing a run, and then that undo, restores exactly the inputs before both', () => {
    const checked = forEachHistory('redo', (runs) => {
      let redone = 0;
      for (const { id } of runs) {
        const undone = undo(runs, id);
        if (!undone) continue;
        const again = undo(undone, undone.at(-1)!.id);
        expect(again, id).not.toBeNull();
        expect(lastOf(again!)).toEqual(lastOf(runs));
        // Undone, done again, and undone by its own name.
        expect(lastOf(undo(again!, id)!)).toEqual(lastOf(undone));
        redone += 1;
      }
      return redone;
    });
    expect(checked).toBeGreaterThan(histories);
  });

  it('undoing a run whose verdicts are all clean has the result that the history has without this run', () => {
    const checked = forEachHistory('never', (runs) => {
      const undone = runs.map(({ id }) => ({ id, runs: undo(runs, id) })).filter(({ runs: after }) => after !== null);
      for (const { id, runs: after } of undone) expect(lastOf(after!)).toEqual(inputsOf(withoutRun(runs, id)));
      return undone.length;
    });
    expect(checked).toBeGreaterThan(histories);
  });

  it('undoing several runs ends the same in every order in which all can be undone', () => {
    const checked = forEachHistory('orders', (runs, random) => {
      const chosen = runs.filter(() => random.chance(0.5)).map(({ id }) => id);
      const ends = Array.from({ length: 4 }, () => undoAll(runs, random.shuffle(chosen))).filter((end) => end !== null);
      for (const end of ends) expect(end).toEqual(ends[0]);
      return ends.length > 1 ? 1 : 0;
    });
    expect(checked).toBeGreaterThan(histories / 10);
  });

  it('the last run can always be undone', () => {
    forEachHistory('last', (runs) => {
      const undone = undo(runs, runs.at(-1)!.id);
      expect(undone && lastOf(undone)).toEqual(inputsOf(runs.at(-2)!.leaves));
      return 1;
    });
  });
});

function undoAll(runs: readonly DeployedRun[], ids: readonly string[]): DeployedInputs | null {
  let undone: DeployedRun[] | null = [...runs];
  for (const id of ids) undone = undone && undo(undone, id);
  return undone && lastOf(undone);
}
