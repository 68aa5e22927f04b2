import { setImmediate as giveWay } from 'node:timers/promises';

const maxTurnMs = 10;

/** Runs work to its end. */
export function runAtOnce<Result>(work: Generator<void, Result>): Result {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}

/** Runs work that yields often, and lets the process answer other requests every few milliseconds. */
export async function runInTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  let began = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - began < maxTurnMs) continue;
    await giveWay();
    began = performance.now();
  }
}
