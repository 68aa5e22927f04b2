import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { revisionOf } from '#api/pipeline/headers/if-match.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Flag, Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { administratorsLock } from '#domain/identity/users/administrators.ts';
import { unknownPrincipal } from '#domain/members/acquaintance.ts';
import { createAccount, deleteAccount, setAccountEnabled, updateAccount } from '#domain/service-accounts/changes.ts';
import type { NewOwner } from '#domain/service-accounts/model.ts';
import { findAccountOwner, type OwnerTarget } from '#domain/service-accounts/owners.ts';
import { readAccountAccess } from '#domain/service-accounts/policy.ts';
import { type AccountTarget, findAccount, findAccountToChange, listAccounts } from '#domain/service-accounts/store.ts';
import { maySucceed } from '#domain/service-accounts/succession.ts';
import { transferAccount } from '#domain/service-accounts/transfer.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import {
  CreateServiceAccount,
  TransferServiceAccount,
  toAccountChange,
  toNewOwner,
  UpdateServiceAccount,
} from './bodies.ts';
import {
  ListedServiceAccountView,
  ServiceAccountView,
  showServiceAccount,
  viewOwner,
  viewServiceAccount,
} from './views.ts';

const AccountParams = z.strictObject({ id: Id });

/** The accounts of users belong to no team. */
const accessReview = { resource: 'service_accounts', unscoped: true, target: findAccount } as const;

const readAccess: Access = { ...readAccountAccess, review: { ...accessReview, verb: 'get' } };
export const manageAccess: Access = {
  ...readAccess,
  anyOf: ['service_account:manage'],
  review: { ...accessReview, verb: 'update' },
};

/** Lets principals that manage users read and transfer an account whose owner is disabled: nobody else could. */
function succession(access: Access) {
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
  // Named users are refused by 403, named teams by 404.
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
    const { updated, difference } = await updateAccount(tx.em, principal, target, toAccountChange(body));
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
  handle: async ({ tx, principal, target, request }) => {
    refuseStale(target, revisionOf(request.headers));
    await deleteAccount(tx.em, principal, target);
    const { id, name, role, revision } = target;
    return { id, before: { name, role, owner: viewOwner(target) }, revision };
  },
});

export const transfer = command({
  id: 'service_accounts.transfer',
  route: 'POST /api/v1/service-accounts/:id/transfer',
  summary: 'Give a service account to another user, or to a team that you own',
  description:
    'Its keys are revoked and its memberships end; it keeps its name, role and history. Where the user who owns it is ' +
    'disabled, principals that may manage users can do this.',
  params: AccountParams,
  body: TransferServiceAccount,
  responses: { 200: ServiceAccountView },
  access: { ...manageAccess, review: { ...accessReview, verb: 'transfer' } },
  target: ({ em, params, body, lock }) => findForTransfer(em, params.id, body, lock),
  targetName: 'service account',
  accessTo: succession(manageAccess),
  idempotency: 'none',
  locks: ({ params }) => [authorityLock(params.id)],
  audit: 'service_account.transferred',
  handle: async ({ tx, principal, target, body, operations }) => {
    if (!target.newOwner) throw missingOwner(body);
    const { updated, ...ended } = await transferAccount(tx.em, principal, target, target.newOwner, {
      expectedRevision: body.expected_revision,
    });
    const [before, after] = [{ owner: viewOwner(target) }, { owner: viewOwner(updated), ...ended }];
    const change = await changeOf(tx.em, { operations, principal }, updated);
    return { ...change, owners: updated, formerOwners: target, before, after };
  },
});

/** The owner of a new account. An unknown user gets the same answer as a user whom the caller may not choose. */
async function findFirstOwner(em: Em, owner: NewOwner, lock: boolean): Promise<OwnerTarget | undefined> {
  const found = await findAccountOwner(em, owner, lock);
  if (found || owner.userId === undefined) return found;
  return { organizationId: null, teamId: null, ownerUserId: owner.userId, archived: [], user: null };
}

/** Locks users before teams, whether the new owner is a user or a team. */
async function findForTransfer(
  em: Em,
  id: string,
  body: Partial<z.output<typeof TransferServiceAccount>>,
  lock: boolean,
) {
  const owner = body.owner && toNewOwner(body.owner);
  const user = owner?.userId === undefined ? undefined : await findAccountOwner(em, owner, lock);
  const account = await findAccountToChange(em, id, lock);
  const team = owner?.teamId === undefined ? undefined : await findAccountOwner(em, owner, lock);
  return account && { ...account, newOwner: user ?? team };
}

function missingOwner({ owner }: z.output<typeof TransferServiceAccount>) {
  if (owner.team_id !== undefined) return new HiddenResource('the new owner team');
  return unknownPrincipal();
}

async function setEnabled(tx: Transaction, context: ActionContext, target: AccountTarget, enabled: boolean) {
  await setAccountEnabled(tx.em, context.principal, target, enabled);
  const updated = await readBack(findAccount(tx.em, target.id));
  const change = await changeOf(tx.em, context, updated);
  return { ...change, before: { enabled: target.enabled }, after: { enabled: updated.enabled } };
}

async function changeOf(em: Em, context: ActionContext, account: AccountTarget) {
  const { id, revision } = account;
  return { id, revision, answer: await showServiceAccount(em, context, account) };
}
