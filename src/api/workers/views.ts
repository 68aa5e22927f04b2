import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { runPhases } from '#domain/shared/vocabulary/runs.ts';
import { DemandedIsolation, isolations, limitKinds, workerStatuses } from '#domain/workers/model.ts';
import { findPoolDeletionRefusal } from '#domain/workers/pools/changes.ts';
import { egressPolicies } from '#domain/workers/pools/egress.ts';
import type { PoolDetails } from '#domain/workers/pools/store.ts';
import type { ExecutedRun, WorkerDetails } from '#domain/workers/store.ts';

/** What a caller may do with a worker. */
const workerActions = actionsOf<WorkerDetails & Ownership>()({
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
const poolActions = actionsOf<PoolFacts>()({
  update: { operation: 'worker_pools.update', findRefusal: ({ revision }) => (revision === null ? unmade : null) },
  delete: {
    operation: 'worker_pools.delete',
    findRefusal: ({ revision, deletion }) => (revision === null ? unmade : deletion),
  },
});

/** Workers and pools belong to the whole installation. */
const owned = <Thing extends object>(thing: Thing): Thing & Ownership => ({
  ...thing,
  ...installationOwnership,
});

const workerFields = {
  id: AnswerId,
  host: z.string(),
  process_id: z.int(),
  version: z.string(),
  pools: z.array(z.string()),
  tools: z.array(z.object({ name: z.string(), version: z.string() })),
  concurrency: z.int(),
  isolation: z.enum(isolations).describe('Whether it contains template code in a sandbox.'),
  limits: z.enum(limitKinds).describe('How it enforces the limits of attempts.'),
  isolation_reason: z.string().nullable().describe('Why it does not contain template code; null where it does.'),
  status: z.enum(workerStatuses),
  executing: z.int(),
  started_at: Time,
  heartbeat_at: Time,
};

/** A worker in a list. */
export const ListedWorkerView = z.object(workerFields).meta({ id: 'ListedWorker' });

const ExecutedRunView = z
  .object({ id: AnswerId, instance: z.string(), phase: z.enum(runPhases) })
  .meta({ id: 'ExecutedRun' });

/** A worker in every answer about one worker. */
export const WorkerView = z
  .object({
    ...workerFields,
    runs: z.array(ExecutedRunView).describe('Of the runs that it executes now, those that you may read.'),
    actions: workerActions.view,
  })
  .meta({ id: 'Worker' });

export function viewWorker(worker: WorkerDetails): z.input<typeof ListedWorkerView> {
  const { processId, isolationReason, startedAt, heartbeatAt, ...rest } = worker;
  return {
    ...rest,
    process_id: processId,
    isolation_reason: isolationReason,
    started_at: startedAt,
    heartbeat_at: heartbeatAt,
  };
}

/** Shows one worker with the runs that it executes, and with the actions that the caller may take. */
export function showWorker(context: ActionContext, worker: WorkerDetails, runs: readonly ExecutedRun[]) {
  return { ...viewWorker(worker), runs: [...runs], actions: workerActions.describe(context, owned(worker)) };
}

const poolFields = {
  name: z.string(),
  team_ids: z
    .array(z.string())
    .nullable()
    .describe('Of the teams that may use the pool, those that you may read; null: all teams may use it.'),
  environment_ids: z
    .array(z.string())
    .nullable()
    .describe('Of the environments that may use the pool, those that you may read; null: all may use it.'),
  isolation: DemandedIsolation.describe('What a worker must have to execute runs of the pool; null: nothing.'),
  egress: z.object({ policy: z.enum(egressPolicies), allow: z.array(z.string()) }),
  max_team_percent: z
    .int()
    .describe('The percentage of its slots that one team may hold, where several teams may use the pool.'),
  max_person_percent: z.int().describe('The same for one person, while more than one person asks.'),
  workers: z.int(),
  contained_workers: z.int().describe('Those of its workers that contain template code.'),
  concurrency: z.int(),
  queued: z.int(),
  running: z.int(),
  created_at: Time.nullable(),
  revision: z
    .number()
    .nullable()
    .describe('Null: no operator has created the pool, so it is open to all; a worker serves it or a run uses it.'),
};

/** A pool in a list. */
export const ListedPoolView = z.object(poolFields).meta({ id: 'ListedWorkerPool' });

/** A pool in every answer about one pool. */
export const PoolView = z.object({ ...poolFields, actions: poolActions.view }).meta({ id: 'WorkerPool' });

export function viewPool(pool: PoolDetails): z.input<typeof ListedPoolView> {
  const { teamIds, environmentIds, containedWorkers, createdAt, egress, maxTeamPercent, maxPersonPercent, ...rest } =
    pool;
  return {
    ...rest,
    team_ids: teamIds && [...teamIds],
    environment_ids: environmentIds && [...environmentIds],
    max_team_percent: maxTeamPercent,
    max_person_percent: maxPersonPercent,
    contained_workers: containedWorkers,
    created_at: createdAt,
    egress: { policy: egress.policy, allow: [...egress.allow] },
  };
}

/** Shows one pool with the actions that the caller may take. */
export async function showPool(em: Em, context: ActionContext, pool: PoolDetails): Promise<z.input<typeof PoolView>> {
  const deletion = await findPoolDeletionRefusal(em, context.principal, pool.name);
  return { ...viewPool(pool), actions: poolActions.describe(context, owned({ ...pool, deletion })) };
}
