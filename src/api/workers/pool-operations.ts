import { z } from 'zod';
import { expectedRevision } from '#api/pipeline/if-match.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf, Time } from '#api/pipeline/schemas.ts';
import { toChange } from '#database/row-lock.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { DemandedIsolation, egressPolicies } from '#domain/workers/model.ts';
import { createPool, deletePool, describePool, updatePool } from '#domain/workers/pool-changes.ts';
import { CreatePool, PoolName, UpdatePool } from '#domain/workers/pool-model.ts';
import { findPool, listPools, type PoolView as PoolRow, readPool } from '#domain/workers/pool-reads.ts';

const PoolParams = z.strictObject({ name: PoolName });

const readAccess: Access = {
  anyOf: ['worker:read'],
  scope: 'platform',
  hidden: 'not_found',
  review: { resource: 'worker_pools', verb: 'get' },
};
const manageAccess: Access = {
  ...readAccess,
  anyOf: ['worker:manage'],
  review: { resource: 'worker_pools', verb: 'update' },
};

const PoolView = z
  .object({
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
    workers: z.number(),
    contained_workers: z.number().describe('Those of its workers that contain template code.'),
    concurrency: z.number(),
    queued: z.number(),
    running: z.number(),
    created_at: Time.nullable(),
    revision: z
      .number()
      .nullable()
      .describe('Null: nobody has created the pool, so it is open to all; a worker serves it or a run uses it.'),
  })
  .meta({ id: 'WorkerPool' });

export const list = read({
  id: 'worker_pools.list',
  route: 'GET /api/v1/worker-pools',
  summary: 'List pools by name: their rules, who serves them, what waits and works in them',
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('worker_pools', PoolView) },
  access: { ...readAccess, review: { resource: 'worker_pools', verb: 'list' } },
  handle: async ({ em, principal, query }) => {
    const page = await listPools(em, principal, query);
    return { worker_pools: page.items, next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'worker_pools.get',
  route: 'GET /api/v1/worker-pools/:name',
  summary: 'Read a pool',
  params: PoolParams,
  responses: { 200: PoolView },
  access: readAccess,
  target: ({ em, params }) => findPool(em, params.name),
  targetName: 'worker pool',
  handle: async ({ em, principal, params }) => {
    const pool = await readPool(em, principal, params.name);
    if (!pool) throw new NotFound('worker pool');
    return pool;
  },
});

export const create = command({
  id: 'worker_pools.create',
  route: 'POST /api/v1/worker-pools',
  summary: 'Create a pool: who may use it, what its workers must have, and what its runs may reach',
  body: CreatePool,
  responses: { 201: PoolView },
  at: get,
  access: { ...manageAccess, review: { resource: 'worker_pools', verb: 'create' } },
  idempotency: 'none',
  audit: 'worker_pool.created',
  handle: async ({ tx, principal, body }) => {
    const pool = await createPool(tx.em, principal, body);
    return { ...changeOf(pool), after: describePool(pool) };
  },
});

export const update = command({
  id: 'worker_pools.update',
  route: 'PATCH /api/v1/worker-pools/:name',
  summary: 'Change a pool; what is left out stays',
  description:
    'What is left out of `egress` stays as well: a policy alone keeps the list, a list alone keeps the policy. A policy "none" beside a list, and a policy "allow" beside an empty one, are refused. A list of teams or environments is replaced as a whole. `If-Match` with the revision in quotes serves as `expected_revision` does.',
  params: PoolParams,
  body: UpdatePool,
  responses: { 200: PoolView },
  access: manageAccess,
  target: ({ em, params, lock }) => findPool(em, params.name, toChange(lock)),
  targetName: 'worker pool',
  idempotency: 'none',
  audit: 'worker_pool.updated',
  handle: async ({ tx, principal, target, body, request }) => {
    const expected_revision = expectedRevision(request, body.expected_revision);
    const { updated, difference } = await updatePool(tx.em, principal, target, { ...body, expected_revision });
    const { before, after } = difference;
    return { ...changeOf(updated), before, after };
  },
});

export const deleteWorkerPool = command({
  id: 'worker_pools.delete',
  route: 'DELETE /api/v1/worker-pools/:name',
  summary: 'Delete a pool that no run, no template version and no worker needs; not the pool "default"',
  description: '`If-Match` with the revision in quotes deletes only that revision.',
  params: PoolParams,
  responses: { 204: Nothing },
  access: { ...manageAccess, review: { resource: 'worker_pools', verb: 'delete' } },
  target: ({ em, params, lock }) => findPool(em, params.name, toChange(lock)),
  targetName: 'worker pool',
  idempotency: 'none',
  audit: 'worker_pool.deleted',
  handle: async ({ tx, principal, target, request }) => {
    const seen = await readBack(readPool(tx.em, principal, target.name));
    await deletePool(tx.em, principal, target, expectedRevision(request));
    return { id: target.name, before: describePool(seen), revision: target.revision };
  },
});

function changeOf(pool: PoolRow) {
  return { id: pool.name, revision: pool.revision, answer: pool };
}
