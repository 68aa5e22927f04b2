import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { findWorker, listWorkers, readExecutedRuns, readWorker, requestDrain } from '#domain/workers/store.ts';
import { ListedWorkerView, showWorker, viewWorker, WorkerView } from './views.ts';

const readAccess: Access = {
  anyOf: ['worker:read'],
  scope: 'platform',
  hidden: 'not_found',
  review: { resource: 'workers', verb: 'get' },
};

export const list = read({
  id: 'workers.list',
  route: 'GET /api/v1/workers',
  summary: 'List workers, the latest first: their pools, their tools and what they execute now',
  query: z.strictObject({ ...pageQuery, pool: z.string().min(1).max(63).optional() }),
  responses: { 200: pageOf('workers', ListedWorkerView) },
  access: { ...readAccess, review: { resource: 'workers', verb: 'list' } },
  handle: async ({ em, query }) => {
    const page = await listWorkers(em, query.pool, query);
    return { workers: page.items.map(viewWorker), next_cursor: page.nextCursor };
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
  handle: async ({ em, params, operations, principal }) => {
    const worker = await readWorker(em, params.id);
    if (!worker) throw new NotFound('worker');
    const runs = await readExecutedRuns(em, principal, worker.id);
    return showWorker({ operations, principal }, worker, runs);
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
