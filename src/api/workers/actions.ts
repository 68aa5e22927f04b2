import { actionsOf } from '#api/pipeline/actions.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import type { PoolDetails } from '#domain/workers/pools/store.ts';
import type { WorkerDetails } from '#domain/workers/store.ts';

/** What a caller may do with a worker. */
export const workerActions = actionsOf<WorkerDetails & Ownership>()({
  drain: {
    operation: 'workers.drain',
    findRefusal: ({ status }) => (status === 'active' ? null : { message: `the worker is ${status} already` }),
  },
});

const unmade = { message: 'no operator has created the pool: create a pool of this name, and then change it' };

/** A pool, and why it cannot be deleted now; null if it can. */
interface PoolFacts extends PoolDetails, Ownership {
  readonly deletion: Refusal | null;
}

/** What a caller may do with a pool. */
export const poolActions = actionsOf<PoolFacts>()({
  update: { operation: 'worker_pools.update', findRefusal: ({ revision }) => (revision === null ? unmade : null) },
  delete: {
    operation: 'worker_pools.delete',
    findRefusal: ({ revision, deletion }) => (revision === null ? unmade : deletion),
  },
});

/** Workers and pools belong to the whole installation. */
export const owned = <Thing extends object>(thing: Thing): Thing & Ownership => ({
  ...thing,
  ...installationOwnership,
});
