import vm from 'node:vm';

const holder: { task: () => unknown } = { task: () => undefined };
const context = vm.createContext(holder);
const call = new vm.Script('task()');

/** The work exceeded its time limit. Discard any partial result of it. */
export class TimeLimitExceeded extends Error {}

/** How many times its limit the work may take in elapsed time when this thread gets little processor time. */
const maxStretch = 60;
/** The share of its time limit that work must have used on the processor to count as too slow. */
const usedShare = 0.8;

/**
 * Runs synchronous work and stops it after some milliseconds of processor time. Schemas come from template authors, and one whose branches
 * double at every level would otherwise block every request of the process. This limits time and is not a sandbox: the work is the
 * service's own code. If the machine was too busy to run it, the work is started again with more time.
 * @throws TimeLimitExceeded; any error of the work
 */
export function runWithin<T>(milliseconds: number, work: () => T): T {
  for (let limit = milliseconds; ; ) {
    const before = process.threadCpuUsage();
    try {
      return runByClock(limit, work);
    } catch (error) {
      if (!(error instanceof TimeLimitExceeded)) throw error;
      const { user, system } = process.threadCpuUsage(before);
      const used = (user + system) / 1_000;
      const longest = milliseconds * maxStretch;
      if (used > milliseconds * usedShare || limit >= longest) throw error;
      limit = Math.ceil(Math.min(longest, limit * Math.max(2, milliseconds / Math.max(used, 1))));
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
    if (isTimeout(error)) throw new TimeLimitExceeded(`stopped after ${milliseconds} ms`);
    throw error;
  } finally {
    holder.task = outer;
  }
  if (result === undefined) throw new Error('the work did not run');
  return result.value;
}

/** The error comes from the realm of the context, whose `Error` is another class. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
