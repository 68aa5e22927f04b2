import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockForChange } from '#database/row-lock.ts';
import { json } from '#database/tables.ts';
import { db, type Over } from '#domain/db.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { RunPhase } from '#domain/shared/vocabulary/runs.ts';
import { Worker } from './entity.ts';
import { heartbeatExpiry } from './heartbeats.ts';
import type { Isolation, WorkerFacts, WorkerStatus } from './model.ts';

type WorkerTable = Over<{ w: 'workers' }>;

/** Whether the worker in the row `w` is alive and takes new work. */
export function takesWork(eb: WorkerTable) {
  return eb.and([
    eb('w.draining', '=', false),
    eb('w.drainRequestedAt', 'is', null),
    eb('w.heartbeatAt', '>', heartbeatExpiry),
  ]);
}

/** Whether a worker that was started on a host is alive. */
export async function hasLiveWorker(em: Em, host: string): Promise<boolean> {
  const rows = await db(em)
    .selectFrom('workers')
    .where('host', '=', host)
    .where('heartbeatAt', '>', heartbeatExpiry)
    .select('id')
    .limit(1)
    .execute();
  return rows.length > 0;
}

/** A worker that has not sent a heartbeat for this long is deleted. */
const forgetAfter = sql<string>`now() - interval '1 day'`;

/** Registers a worker, or registers it again after it was deleted. */
export async function registerWorker(em: Em, facts: WorkerFacts): Promise<void> {
  const now = new Date();
  await em.upsert(Worker, { ...facts, draining: false, startedAt: now, heartbeatAt: now, lostAt: null });
  await db(em).deleteFrom('workers').where('heartbeatAt', '<', forgetAfter).execute();
}

export interface HeartbeatAnswer {
  /** `unregistered`: the worker must register again; `drain`: an operator wants it to take no new work. */
  readonly state: 'registered' | 'unregistered' | 'drain';
  /** The worker was reported as lost: report that it is back. */
  readonly isReportedLost: boolean;
  /** Its last heartbeat had expired, so its slots were not counted. */
  readonly wasSilent: boolean;
}

/** Records that a worker is alive, whether it is draining, and the tools that it has now. */
export async function recordHeartbeat(
  em: Em,
  { id, draining, tools }: { id: string; draining: boolean; tools: WorkerFacts['tools'] },
): Promise<HeartbeatAnswer> {
  const [worker] = await db(em)
    .updateTable('workers')
    .set({ heartbeatAt: sql`clock_timestamp()`, draining, tools: json(tools) })
    .where('id', '=', id)
    .returning((eb) => [
      eb('drainRequestedAt', 'is not', null).as('drain'),
      eb('lostAt', 'is not', null).as('isReportedLost'),
      // A subquery sees the row as it was before the update.
      eb
        .selectFrom('workers as w')
        .whereRef('w.id', '=', 'workers.id')
        .select((of) => of('w.heartbeatAt', '<', heartbeatExpiry).as('silent'))
        .as('wasSilent'),
    ])
    .execute();
  if (!worker) return { state: 'unregistered', isReportedLost: false, wasSilent: false };
  const { drain, isReportedLost, wasSilent } = worker;
  return {
    state: drain ? 'drain' : 'registered',
    isReportedLost: Boolean(isReportedLost),
    wasSilent: Boolean(wasSilent),
  };
}

/** The workers that were started on a host. */
export function findWorkersOnHost(em: Em, host: string): Promise<{ id: string; processId: number }[]> {
  return db(em).selectFrom('workers').where('host', '=', host).select(['id', 'processId']).execute();
}

export async function deregisterWorker(em: Em, id: string): Promise<void> {
  await em.remove(em.getReference(Worker, id)).flush();
}

/** The facts that a report of a lost worker contains. */
export interface LostWorker {
  readonly host: string;
  readonly pools: string[];
}

/** The workers whose heartbeats have expired and that have not been reported as lost yet. */
export async function findSilentWorkers(em: Em): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('workers')
    .where('lostAt', 'is', null)
    .where('heartbeatAt', '<', heartbeatExpiry)
    .select('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Marks a silent worker as lost; undefined if it was marked before, or sends heartbeats again. */
export function markLost(em: Em, id: string): Promise<LostWorker | undefined> {
  return db(em)
    .updateTable('workers')
    .set({ lostAt: sql`clock_timestamp()` })
    .where('id', '=', id)
    .where('lostAt', 'is', null)
    .where('heartbeatAt', '<', heartbeatExpiry)
    .returning(['host', 'pools'])
    .executeTakeFirst();
}

/** Takes back the mark of a lost worker that sends heartbeats again; undefined if it has none, or is silent. */
export function unmarkLost(em: Em, id: string): Promise<LostWorker | undefined> {
  return db(em)
    .updateTable('workers')
    .set({ lostAt: null })
    .where('id', '=', id)
    .where('lostAt', 'is not', null)
    .where('heartbeatAt', '>=', heartbeatExpiry)
    .returning(['host', 'pools'])
    .executeTakeFirst();
}

/** Deletes a worker unless it was reported as lost; undefined if it was, or does not exist. */
export function deleteUnreportedWorker(em: Em, id: string): Promise<LostWorker | undefined> {
  return db(em)
    .deleteFrom('workers')
    .where('id', '=', id)
    .where('lostAt', 'is', null)
    .returning(['host', 'pools'])
    .executeTakeFirst();
}

/** A worker by its id. Workers belong to the whole installation. */
export async function findWorker(em: Em, id: string): Promise<({ id: string } & Ownership) | undefined> {
  const worker = await db(em).selectFrom('workers').where('id', '=', id).select('id').executeTakeFirst();
  return worker && { ...worker, ...installationOwnership };
}

/** Asks a worker to take no new work; false if there is no such worker. It obeys at its next heartbeat. */
export async function requestDrain(em: Em, id: string): Promise<boolean> {
  const worker = await lockForChange(em, Worker, { id });
  worker?.requestDrain();
  await em.flush();
  return worker !== null;
}

/** The facts about a worker that operators see. */
export interface WorkerDetails extends WorkerFacts {
  readonly status: WorkerStatus;
  /** Attempts that it executes now. */
  readonly executing: number;
  readonly startedAt: string;
  readonly heartbeatAt: string;
}

/** A page of the workers, newest first. `pool`: only workers that serve this pool. */
export function listWorkers(em: Em, pool: string | undefined, request: PageRequest): Promise<Page<WorkerDetails>> {
  const workers = selectWorkers(em).$if(pool !== undefined, (query) =>
    query.where('w.pools', '@>', sql<string[]>`${json([pool])}::jsonb`),
  );
  return pageOf(workers, 'w.id', request);
}

export function readWorker(em: Em, id: string): Promise<WorkerDetails | undefined> {
  return selectWorkers(em).where('w.id', '=', id).executeTakeFirst();
}

/** A run that a worker executes now. */
export interface ExecutedRun {
  readonly id: string;
  readonly instance: string;
  readonly phase: RunPhase;
}

/** The runs that a worker executes now and that the principal may read. */
export function readExecutedRuns(em: Em, principal: Principal, workerId: string): Promise<ExecutedRun[]> {
  return db(em)
    .selectFrom('run_attempts as a')
    .innerJoin('runs as r', 'r.attemptId', 'a.id')
    .innerJoin('instances as i', 'i.id', 'r.instanceId')
    .where('a.workerId', '=', workerId)
    .where('a.outcome', 'is', null)
    .where('r.finishedAt', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('r.teamId'), 'visible'))
    .select(['r.id', 'i.name as instance', 'r.phase'])
    .orderBy('a.startedAt')
    .execute();
}

function selectWorkers(em: Em) {
  return db(em)
    .selectFrom('workers as w')
    .select(['w.id', 'w.host', 'w.processId', 'w.version', 'w.pools', 'w.tools', 'w.concurrency'])
    .select(['w.limits', 'w.startedAt', 'w.heartbeatAt'])
    .select((eb) => [
      eb.fn.coalesce('w.isolation', sql<Isolation>`'none'`).as('isolation'),
      eb
        .case()
        .when('w.isolation', 'is', null)
        .then(sql<string>`'a release that cannot say'`)
        .else(eb.ref('w.isolationReason'))
        .end()
        .as('isolationReason'),
      statusOf(eb).as('status'),
      countExecuting(eb).as('executing'),
    ]);
}

function statusOf(eb: WorkerTable) {
  return eb
    .case()
    .when('w.heartbeatAt', '<', heartbeatExpiry)
    .then(sql<WorkerStatus>`'gone'`)
    .when(eb.or([eb('w.draining', '=', true), eb('w.drainRequestedAt', 'is not', null)]))
    .then(sql<WorkerStatus>`'draining'`)
    .else(sql<WorkerStatus>`'active'`)
    .end();
}

/** The attempts of unfinished runs that the worker in the row `w` has claimed. */
function countExecuting(eb: WorkerTable) {
  return eb
    .selectFrom('run_attempts as a')
    .innerJoin('runs as r', 'r.attemptId', 'a.id')
    .whereRef('a.workerId', '=', 'w.id')
    .where('a.outcome', 'is', null)
    .where('r.finishedAt', 'is', null)
    .select((of) => of.cast<number>(of.fn.countAll(), 'integer').as('count'))
    .$asScalar()
    .$notNull();
}
