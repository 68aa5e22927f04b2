import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { comparedIf } from '#api/pipeline/audit/unchanged.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { findQuotaTarget } from '#domain/environments/quota-targets.ts';
import { clearQuota, recountQuota, setQuota } from '#domain/quotas/changes.ts';
import { listQuotas } from '#domain/quotas/store.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { ListedQuotaView, QuotaParams, QuotaScopeName, QuotaView, SetQuota, showQuota, viewQuota } from './views.ts';

const listAccess: Access = {
  anyOf: ['quota:manage'],
  scope: 'platform',
  hidden: 'not_found',
  review: { resource: 'quotas', verb: 'list' },
};
/** Administrators who may list quotas may do everything with them. */
const access: Access = { ...listAccess, review: { inherits: 'quotas.list' } };

const ofOwner = {
  params: QuotaParams,
  targetName: 'organization, team or environment',
  resourceId: ({ params }: { readonly params: { readonly id: string } }) => params.id,
  idempotency: 'none',
} as const;

export const list = read({
  id: 'quotas.list',
  route: 'GET /api/v1/admin/quotas',
  summary: 'List quotas, the newest first, and what is used of them',
  query: z.strictObject({ ...pageQuery, scope: QuotaScopeName.optional() }),
  responses: { 200: pageOf('quotas', ListedQuotaView) },
  access: listAccess,
  handle: async ({ em, query }) => {
    const page = await listQuotas(em, query);
    const quotas = [];
    for (const quota of page.items) quotas.push(await viewQuota(em, quota));
    return { quotas, next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'quotas.get',
  route: 'GET /api/v1/admin/quotas/:scope/:id',
  summary: 'Read the quota of an owner, and all that it uses',
  params: QuotaParams,
  responses: { 200: QuotaView },
  access,
  target: ({ em, params }) => findQuotaTarget(em, params, false),
  targetName: ofOwner.targetName,
  handle: async ({ em, target, principal, operations }) => showQuota(em, { principal, operations }, target),
});

export const set = command({
  ...ofOwner,
  id: 'quotas.set',
  route: 'PUT /api/v1/admin/quotas/:scope/:id',
  summary: 'Replace all limits of an owner',
  description:
    'A limit may be lower than the current use: the service removes nothing, and refuses more. If a limit of concurrent runs is raised, waiting runs begin.',
  body: SetQuota,
  responses: { 200: QuotaView },
  access,
  target: ({ em, params, lock }) => findQuotaTarget(em, params, lock),
  audit: 'quota.set',
  handle: async ({ tx, target, body, principal, operations }) => {
    const { before, after, revision } = await setQuota(tx, target, body.limits, body.expected_revision);
    const answer = await showQuota(tx.em, { principal, operations }, target);
    const limits = { before: named(before), after: named(after) };
    return { id: target.id, ...comparedIf(!isDeepStrictEqual(before, after), limits), revision, answer };
  },
});

export const clear = command({
  ...ofOwner,
  id: 'quotas.clear',
  route: 'DELETE /api/v1/admin/quotas/:scope/:id',
  summary: 'Remove the quota of an owner',
  responses: { 204: Nothing },
  access,
  target: ({ em, params, lock }) => findQuotaTarget(em, params, lock),
  ifMatch: true,
  audit: 'quota.cleared',
  handle: async ({ tx, target, expectedRevision }) => {
    const { before, revision } = await clearQuota(tx, target, expectedRevision);
    return { id: target.id, before: named(before), after: named(null), revision };
  },
});

export const recount = command({
  ...ofOwner,
  id: 'quotas.recount',
  route: 'POST /api/v1/admin/quotas/:scope/:id/recount',
  summary: 'Count the use of an owner again',
  description:
    'The service counts everything but bytes at each request. It records the bytes of states and logs when it writes them; this operation sums them up again. Meanwhile, writes of the instances of the owner wait.',
  responses: { 200: QuotaView },
  access,
  target: ({ em, params, lock }) => findQuotaTarget(em, params, lock),
  audit: 'quota.recounted',
  handle: async ({ tx, target, principal, operations }) => {
    const { before, after } = await recountQuota(tx, target);
    const answer = await showQuota(tx.em, { principal, operations }, target);
    return { id: target.id, before: { usage: [...before] }, after: { usage: [...after] }, answer };
  },
});

function named(limits: object | null) {
  return { limits };
}
