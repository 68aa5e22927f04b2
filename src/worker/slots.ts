import { availableParallelism, totalmem } from 'node:os';

/** What one execution usually needs: the tool and two or three providers. */
const memoryOfExecution = 512 * 1024 * 1024;
/** Tools spend most of their time waiting for remote APIs. */
const executionsPerCore = 2;

/** What this process may use; in a container, its limits. `memory` is in bytes. */
export interface Machine {
  readonly memory: number;
  readonly cores: number;
}

/** How many executions a worker runs at once in each of its pools by default: as memory and cores allow, at least one. */
export function fittingConcurrency(pools: number, { memory, cores }: Machine = describeMachine()): number {
  const total = Math.min(Math.floor(memory / memoryOfExecution), cores * executionsPerCore);
  return Math.max(1, Math.floor(total / Math.max(1, pools)));
}

function describeMachine(): Machine {
  const limit = process.constrainedMemory();
  return { memory: limit > 0 ? Math.min(limit, totalmem()) : totalmem(), cores: availableParallelism() };
}
