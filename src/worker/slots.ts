import { availableParallelism, totalmem } from 'node:os';

/** What one execution takes as a rule: its executor, the tool and two or three providers. */
const memoryOfExecution = 512 * 1024 * 1024;
/** Tools wait for remote APIs for most of their time. */
const executionsPerCore = 2;

/** What a process may use: of a container, its limits. `memory` in bytes. */
export interface Machine {
  readonly memory: number;
  readonly cores: number;
}

/** How many executions a worker takes on in each of its pools where nobody says: as many as memory and cores bear, at least one. */
export function fittingConcurrency(pools: number, { memory, cores }: Machine = describeMachine()): number {
  const inAll = Math.min(Math.floor(memory / memoryOfExecution), cores * executionsPerCore);
  return Math.max(1, Math.floor(inAll / Math.max(1, pools)));
}

function describeMachine(): Machine {
  const limit = process.constrainedMemory();
  return { memory: limit > 0 ? Math.min(limit, totalmem()) : totalmem(), cores: availableParallelism() };
}
