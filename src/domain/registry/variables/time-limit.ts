import vm from 'node:vm';

const holder: { task: () => unknown } = { task: () => undefined };
const context = vm.createContext(holder);
const call = new vm.Script('task()');

/** The work took longer than it may; whatever it did so far is to be thrown away. */
export class TookTooLong extends Error {}

/** The work may take so many times longer by the clock where the machine gives this process little of its time. */
const patience = 20;
/** What may be missing from the time that the work is allowed for it to count as used up. */
const usedUp = 0.8;

/**
 * Runs synchronous work and stops it after some milliseconds of work. Schemas come from template authors, and one with
 * branches that double at every level would otherwise hold up every request of the process. This is a clock, not a
 * sandbox: the work is our own code, and may be begun anew where the machine was too busy to get to it.
 * @throws TookTooLong; whatever the work throws
 */
export function runWithin<T>(milliseconds: number, work: () => T): T {
  for (let limit = milliseconds; ; ) {
    const before = process.threadCpuUsage();
    try {
      return runByClock(limit, work);
    } catch (error) {
      if (!(error instanceof TookTooLong)) throw error;
      const { user, system } = process.threadCpuUsage(before);
      const used = (user + system) / 1_000;
      if (used > milliseconds * usedUp || limit > milliseconds) throw error;
      limit = Math.ceil(milliseconds * Math.min(patience, limit / Math.max(used, 1)));
    }
  }
}

function runByClock<T>(milliseconds: number, work: () => T): T {
  let result: { value: T } | undefined;
  const outer = holder.task;
  holder.task = () => {
    result = { value: work() };
  };
  try {
    call.runInContext(context, { timeout: milliseconds });
  } catch (error) {
    if (isTimeout(error)) throw new TookTooLong(`stopped after ${milliseconds} ms`);
    throw error;
  } finally {
    holder.task = outer;
  }
  if (result === undefined) throw new Error('the work did not run');
  return result.value;
}

/** The clock's error belongs to the context's own realm, where `Error` is another one. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
