import { z } from 'zod';
import type { Access } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { afterId, pageQuery, toPage, Where } from '#domain/shared/paging.ts';
import { workerGoneAfterSeconds } from '#domain/workers/service.ts';
import { read } from '../operation.ts';
import { pageOf, Time } from '../views/common.ts';

const readAccess: Access = {
  anyOf: ['worker:read'],
  scope: 'platform',
  hidden: 404,
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
    status: z.enum(['active', 'draining', 'gone']),
    executing: z.number(),
    started_at: Time,
    heartbeat_at: Time,
  })
  .meta({ id: 'Worker' });
type WorkerRow = z.input<typeof WorkerView>;

const columns = `w.id, w.host, w.process_id, w.version, w.pools, w.tools, w.concurrency, w.started_at, w.heartbeat_at,
  case when w.heartbeat_at < now() - make_interval(secs => ${workerGoneAfterSeconds}) then 'gone'
       when w.draining then 'draining' else 'active' end as status,
  (select count(*)::int from run_attempts a join runs r on r.attempt_id = a.id
    where a.worker_id = w.id and a.outcome is null and r.finished_at is null) as executing from workers w`;

export const list = read({
  id: 'workers.list',
  route: 'GET /api/v1/workers',
  summary: 'List workers, the latest first: their pools, their tools and what they execute now',
  query: z.strictObject({ ...pageQuery, pool: z.string().max(63).optional() }),
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
  handle: async ({ em, params }) => {
    const rows = await em.execute<WorkerRow[]>(`select ${columns} where w.id = ?`, [params.id]);
    if (!rows[0]) throw new NotFound('worker');
    return rows[0];
  },
});
