import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf, Time } from '#api/pipeline/schemas.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { afterId, pageQuery, toPage, Where } from '#domain/shared/paging.ts';
import { isolations, limitKinds } from '#domain/workers/model.ts';
import { findWorker, requestDrain } from '#domain/workers/registration.ts';
import { workerGoneAfterSeconds } from '#domain/workers/service.ts';

const readAccess: Access = {
  anyOf: ['worker:read'],
  scope: 'platform',
  hidden: 'not_found',
  review: { resource: 'workers', verb: 'get' },
};

const WorkerView = z
  .object({
    id: z.string(),
    host: z.string(),
    process_id: z.number(),
    version: z.string(),
    pools: z.array(z.string()),
    tools: z.array(z.object({ name: z.string(), version: z.string() })),
    concurrency: z.number(),
    isolation: z.enum(isolations).describe('Whether it contains template code in a sandbox.'),
    limits: z.enum(limitKinds).describe('How it enforces the limits of attempts.'),
    isolation_reason: z.string().nullable().describe('Why it does not contain template code; null where it does.'),
    status: z.enum(['active', 'draining', 'gone']),
    executing: z.number(),
    started_at: Time,
    heartbeat_at: Time,
  })
  .meta({ id: 'Worker' });
type WorkerRow = z.input<typeof WorkerView>;

const columns = `w.id, w.host, w.process_id, w.version, w.pools, w.tools, w.concurrency, w.started_at, w.heartbeat_at,
  coalesce(w.isolation, 'none') as isolation, w.limits,
  case when w.isolation is null then 'a release that cannot say' else w.isolation_reason end as isolation_reason,
  case when w.heartbeat_at < now() - make_interval(secs => ${workerGoneAfterSeconds}) then 'gone'
       when w.draining or w.drain_requested_at is not null then 'draining' else 'active' end as status,
  (select count(*)::int from run_attempts a join runs r on r.attempt_id = a.id
    where a.worker_id = w.id and a.outcome is null and r.finished_at is null) as executing from workers w`;

export const list = read({
  id: 'workers.list',
  route: 'GET /api/v1/workers',
  summary: 'List workers, the latest first: their pools, their tools and what they execute now',
  query: z.strictObject({ ...pageQuery, pool: z.string().min(1).max(63).optional() }),
  responses: { 200: pageOf('workers', WorkerView) },
  access: { ...readAccess, review: { resource: 'workers', verb: 'list' } },
  handle: async ({ em, query }) => {
    const pool = query.pool && JSON.stringify([query.pool]);
    const where = new Where().andIf(pool, 'w.pools @> ?::jsonb').andIf(afterId(query), 'w.id < ?');
    const rows = await em.execute<WorkerRow[]>(`select ${columns} where ${where.sql} order by w.id desc limit ?`, [
      ...where.params,
      query.limit + 1,
    ]);
    const page = toPage(rows, query);
    return { workers: page.items, next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'workers.get',
  route: 'GET /api/v1/workers/:id',
  summary: 'Read a worker',
  params: z.strictObject({ id: Id }),
  responses: { 200: WorkerView },
  access: readAccess,
  target: ({ em, params }) => findWorker(em, params.id),
  targetName: 'worker',
  handle: async ({ em, params }) => {
    const rows = await em.execute<WorkerRow[]>(`select ${columns} where w.id = ?`, [params.id]);
    if (!rows[0]) throw new NotFound('worker');
    return rows[0];
  },
});

export const drain = command({
  id: 'workers.drain',
  route: 'POST /api/v1/workers/:id/drain',
  summary: 'Let a worker finish what it executes and take nothing new, until it is restarted',
  params: z.strictObject({ id: Id }),
  responses: { 202: WorkerView },
  at: get,
  access: { ...readAccess, anyOf: ['worker:manage'], review: { resource: 'workers', verb: 'drain' } },
  target: ({ em, params }) => findWorker(em, params.id),
  targetName: 'worker',
  idempotency: 'optional',
  audit: 'worker.drain_requested',
  handle: async ({ tx, params }) => {
    if (!(await requestDrain(tx.em, params.id))) throw new NotFound('worker');
    return { id: params.id };
  },
});
