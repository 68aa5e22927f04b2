import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { comparedIf } from '#api/pipeline/audit/unchanged.ts';
import { toProperties } from '#api/pipeline/fields.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { administratorsLock } from '#domain/identity/users/administrators.ts';
import { createAccount, deleteAccount, setAccountEnabled, updateAccount } from '#domain/service-accounts/changes.ts';
import type { NewOwner } from '#domain/service-accounts/model.ts';
import { findAccountOwner, type OwnerTarget } from '#domain/service-accounts/owners.ts';
import { type AccountTarget, findAccount, findAccountToChange, listAccounts } from '#domain/service-accounts/store.ts';
import { readAccountAccess } from '#domain/shared/access/account-access.ts';
import { maySucceed } from '#domain/shared/access/account-succession.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import { CreateServiceAccount, toNewOwner, UpdateServiceAccount } from './bodies.ts';
import {
  ListedServiceAccountView,
  ServiceAccountView,
  showServiceAccount,
  viewOwner,
  viewServiceAccount,
} from './views.ts';

export const AccountParams = z.strictObject({ id: Id });

/** An access review names an account without a team, because accounts of users do not belong to one. */
export const accessReview = { resource: 'service_accounts', unscoped: true, target: findAccount } as const;

const readAccess: Access = { ...readAccountAccess, review: { ...accessReview, verb: 'get' } };
export const manageAccess: Access = {
  ...readAccess,
  anyOf: ['service_account:manage'],
  review: { ...accessReview, verb: 'update' },
};

/** Lets principals that manage users read and transfer an account whose owner is disabled. Nobody else could. */
export function succession(access: Access) {
  return (account: AccountTarget, principal: Principal): Access =>
    maySucceed(principal, account) ? { ...access, anyOf: ['user:manage'], scope: 'platform' } : access;
}

export const list = readList({
  id: 'service_accounts.list',
  route: 'GET /api/v1/service-accounts',
  summary: 'List the service accounts that you may manage',
  query: z.strictObject({
    ...pageQuery,
    owner_user_id: Id.optional(),
    owner_team_id: Id.optional(),
    owner_organization_id: Id.optional().describe("The accounts of the organization's teams."),
    enabled: Flag.optional(),
  }),
  responses: { 200: pageOf('service_accounts', ListedServiceAccountView) },
  access: { ...readAccess, scope: 'platform', review: { resource: 'service_accounts', verb: 'list' } },
  owners: { organization: 'owner_organization_id', team: 'owner_team_id' },
  handle: async ({ em, principal, query }) => {
    const { owner_user_id, owner_team_id, owner_organization_id, ...rest } = query;
    const page = await listAccounts(em, principal, {
      ...rest,
      ownerUserId: owner_user_id,
      ownerTeamId: owner_team_id,
      ownerOrganizationId: owner_organization_id,
      enabled: query.enabled && query.enabled === 'true',
    });
    return { service_accounts: page.items.map(viewServiceAccount), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'service_accounts.get',
  route: 'GET /api/v1/service-accounts/:id',
  summary: 'Read a service account',
  params: AccountParams,
  responses: { 200: ServiceAccountView },
  access: readAccess,
  target: ({ em, params }) => findAccount(em, params.id),
  targetName: 'service account',
  accessTo: succession(readAccess),
  handle: async ({ em, target, operations, principal }) => showServiceAccount(em, { operations, principal }, target),
});

export const create = command({
  id: 'service_accounts.create',
  route: 'POST /api/v1/service-accounts',
  summary: 'Create a service account for yourself or for a team that you own, with a role not above your own',
  body: CreateServiceAccount,
  responses: { 201: ServiceAccountView },
  at: get,
  access: { ...manageAccess, scope: 'platform', review: { ...accessReview, verb: 'create' } },
  target: ({ em, body, lock }) => findFirstOwner(em, toNewOwner(body.owner), lock),
  targetName: 'the owner',
  // For users, the refusal is 403; for teams, it is 404.
  accessTo: ({ teamId }) => ({ ...manageAccess, hidden: teamId === null ? 'forbidden' : 'not_found' }),
  idempotency: 'none',
  audit: 'service_account.created',
  handle: async ({ tx, principal, target, body, operations }) => {
    const account = await createAccount(tx.em, principal, target, body);
    const { name, role } = account;
    const change = await changeOf(tx.em, { operations, principal }, account);
    return { ...change, after: { name, role, owner: viewOwner(account) } };
  },
});

export const update = command({
  id: 'service_accounts.update',
  route: 'PATCH /api/v1/service-accounts/:id',
  summary: 'Rename a service account, or give it another role not above your own',
  params: AccountParams,
  body: UpdateServiceAccount,
  responses: { 200: ServiceAccountView },
  access: manageAccess,
  target: ({ em, params, lock }) => findAccountToChange(em, params.id, lock),
  targetName: 'service account',
  idempotency: 'none',
  locks: ({ params }) => [authorityLock(params.id), administratorsLock],
  audit: 'service_account.updated',
  handle: async ({ tx, principal, target, body, operations }) => {
    const { updated, difference } = await updateAccount(tx.em, principal, target, toProperties(body));
    const { before, after } = difference;
    return { ...(await changeOf(tx.em, { operations, principal }, updated)), before, after };
  },
});

export const enable = command({
  id: 'service_accounts.enable',
  route: 'POST /api/v1/service-accounts/:id/enable',
  summary: 'Enable a service account, whose keys become valid again',
  params: AccountParams,
  responses: { 200: ServiceAccountView },
  access: { ...manageAccess, review: { ...accessReview, verb: 'enable' } },
  target: ({ em, params, lock }) => findAccountToChange(em, params.id, lock),
  targetName: 'service account',
  idempotency: 'none',
  locks: ({ params }) => [authorityLock(params.id)],
  audit: 'service_account.enabled',
  handle: ({ tx, principal, target, operations }) => setEnabled(tx, { operations, principal }, target, true),
});

export const disable = command({
  id: 'service_accounts.disable',
  route: 'POST /api/v1/service-accounts/:id/disable',
  summary: 'Disable a service account, whose keys are refused from the next request on',
  params: AccountParams,
  responses: { 200: ServiceAccountView },
  access: { ...manageAccess, review: { ...accessReview, verb: 'disable' } },
  target: ({ em, params, lock }) => findAccountToChange(em, params.id, lock),
  targetName: 'service account',
  idempotency: 'none',
  locks: ({ params }) => [authorityLock(params.id), administratorsLock],
  audit: 'service_account.disabled',
  handle: ({ tx, principal, target, operations }) => setEnabled(tx, { operations, principal }, target, false),
});

export const remove = command({
  id: 'service_accounts.delete',
  route: 'DELETE /api/v1/service-accounts/:id',
  summary: 'Delete a service account, its keys and its memberships; the audit keeps its id',
  params: AccountParams,
  responses: { 204: Nothing },
  access: { ...manageAccess, review: { ...accessReview, verb: 'delete' } },
  target: ({ em, params, lock }) => findAccountToChange(em, params.id, lock),
  targetName: 'service account',
  ifMatch: true,
  idempotency: 'none',
  locks: ({ params }) => [authorityLock(params.id), administratorsLock],
  audit: 'service_account.deleted',
  handle: async ({ tx, principal, target, expectedRevision }) => {
    refuseStale(target, expectedRevision);
    await deleteAccount(tx.em, principal, target);
    const { id, name, role, revision } = target;
    return { id, before: { name, role, owner: viewOwner(target) }, revision };
  },
});

/** Finds the owner of a new account. An unknown user gets the same answer as one whom the caller may not choose. */
async function findFirstOwner(em: Em, owner: NewOwner, lock: boolean): Promise<OwnerTarget | undefined> {
  const found = await findAccountOwner(em, owner, lock);
  if (found || owner.userId === undefined) return found;
  return { organizationId: null, teamId: null, ownerUserId: owner.userId, archived: [], user: null };
}

async function setEnabled(tx: Transaction, context: ActionContext, target: AccountTarget, enabled: boolean) {
  await setAccountEnabled(tx.em, context.principal, target, enabled);
  const updated = await readBack(findAccount(tx.em, target.id));
  const change = await changeOf(tx.em, context, updated);
  const compared = { before: { enabled: target.enabled }, after: { enabled: updated.enabled } };
  return { ...change, ...comparedIf(updated.revision !== target.revision, compared) };
}

export async function changeOf(em: Em, context: ActionContext, account: AccountTarget) {
  const { id, revision } = account;
  return { id, revision, answer: await showServiceAccount(em, context, account) };
}
