import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { wakeAllSharers } from '#domain/runs/steps/shares.ts';
import { type Access, decide, installationOwnership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { PoolName } from '#domain/shared/vocabulary/pools.ts';
import { createPool, deletePool, rulesOf, updatePool } from '#domain/workers/pools/changes.ts';
import { findPool, findPoolToChange, listPools, type PoolDetails, readPool } from '#domain/workers/pools/store.ts';
import { CreatePool, toNewPool, toPoolChange, UpdatePool } from './bodies.ts';
import { ListedPoolView, PoolView, showPool, viewPool } from './views.ts';

const PoolParams = z.strictObject({ name: PoolName });

const readAccess: Access = {
  anyOf: ['worker:read'],
  scope: 'platform',
  hidden: 'not_found',
  review: { resource: 'worker_pools', verb: 'get' },
};

/** Whether a caller may see pools and their workers. */
export function seesPools(principal: Principal): boolean {
  return decide(principal, readAccess, installationOwnership).allowed;
}

const manageAccess: Access = {
  ...readAccess,
  anyOf: ['worker:manage'],
  review: { resource: 'worker_pools', verb: 'update' },
};

export const list = read({
  id: 'worker_pools.list',
  route: 'GET /api/v1/worker-pools',
  summary: 'List pools by name: their rules, who serves them, what waits and works in them',
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('worker_pools', ListedPoolView) },
  access: { ...readAccess, review: { resource: 'worker_pools', verb: 'list' } },
  handle: async ({ em, principal, query }) => {
    const page = await listPools(em, principal, query);
    return { worker_pools: page.items.map(viewPool), next_cursor: page.nextCursor };
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
  handle: async ({ em, principal, params, operations }) => {
    const pool = await readPool(em, principal, params.name);
    if (!pool) throw new NotFound('worker pool');
    return showPool(em, { operations, principal }, pool);
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
  handle: async ({ tx, principal, body, operations }) => {
    const pool = await createPool(tx.em, principal, toNewPool(body));
    return { ...(await changeOf(tx.em, { operations, principal }, pool)), after: rulesOf(pool) };
  },
});

export const update = command({
  id: 'worker_pools.update',
  route: 'PATCH /api/v1/worker-pools/:name',
  summary: 'Change a pool; what is left out stays',
  description:
    'What is left out of `egress` stays as well: a policy alone keeps the list, a list alone keeps the policy. A policy "none" beside a list, and a policy "allow" beside an empty one, are refused. A list of teams or environments is replaced as a whole.',
  params: PoolParams,
  body: UpdatePool,
  responses: { 200: PoolView },
  access: manageAccess,
  target: ({ em, params, lock }) => findPoolToChange(em, params.name, lock),
  targetName: 'worker pool',
  idempotency: 'none',
  audit: 'worker_pool.updated',
  handle: async ({ tx, principal, target, body, operations }) => {
    const { updated, difference } = await updatePool(tx.em, principal, target, toPoolChange(body));
    const { before, after } = difference;
    await wakeAllSharers(tx, updated.name);
    return { ...(await changeOf(tx.em, { operations, principal }, updated)), before, after };
  },
});

export const deleteWorkerPool = command({
  id: 'worker_pools.delete',
  route: 'DELETE /api/v1/worker-pools/:name',
  summary: 'Delete a pool that no run, no template version and no worker needs; not the pool "default"',
  params: PoolParams,
  responses: { 204: Nothing },
  access: { ...manageAccess, review: { resource: 'worker_pools', verb: 'delete' } },
  target: ({ em, params, lock }) => findPoolToChange(em, params.name, lock),
  targetName: 'worker pool',
  idempotency: 'none',
  ifMatch: true,
  audit: 'worker_pool.deleted',
  handle: async ({ tx, principal, target, expectedRevision }) => {
    const seen = await readBack(readPool(tx.em, principal, target.name));
    await deletePool(tx.em, principal, target, expectedRevision);
    return { id: target.name, before: rulesOf(seen), revision: target.revision };
  },
});

async function changeOf(em: Em, context: ActionContext, pool: PoolDetails) {
  return { id: pool.name, revision: pool.revision, answer: await showPool(em, context, pool) };
}
