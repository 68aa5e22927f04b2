import { availableParallelism, totalmem } from 'node:os';

/** The memory that one execution usually needs: for the tool and two or three providers. */
const memoryOfExecution = 512 * 1024 * 1024;
/** Tools mostly wait for remote APIs. */
const executionsPerCore = 2;

/** The resources that this process may use; in a container, its limits. `memory` is in bytes. */
export interface Machine {
  readonly memory: number;
  readonly cores: number;
}

/** The default number of simultaneous executions in each pool of a worker, according to memory and cores; at least one. */
export function fittingConcurrency(pools: number, { memory, cores }: Machine = describeMachine()): number {
  const total = Math.min(Math.floor(memory / memoryOfExecution), cores * executionsPerCore);
  return Math.max(1, Math.floor(total / Math.max(1, pools)));
}

function describeMachine(): Machine {
  const limit = process.constrainedMemory();
  return { memory: limit > 0 ? Math.min(limit, totalmem()) : totalmem(), cores: availableParallelism() };
}
