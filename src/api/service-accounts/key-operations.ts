import { z } from 'zod';
import { ApiKeyDetailsView } from '#api/identity/key-actions.ts';
import {
  ApiKeyView,
  CreateKey,
  expiryOf,
  IssuedKeyView,
  issuedChange,
  overlapOf,
  RotateKey,
  revokedChange,
  viewApiKey,
} from '#api/identity/views.ts';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import {
  findRevocationRefusal,
  findRotationRefusal,
  type KeyWithFacts,
  withKeyFacts,
} from '#domain/identity/api-keys/actions.ts';
import { addKey, revokeKey, rotateKey } from '#domain/identity/api-keys/changes.ts';
import { type ApiKeyDetails, findKey, listKeys } from '#domain/identity/api-keys/store.ts';
import { type AccountWithFacts, withAccountFacts } from '#domain/service-accounts/account-facts.ts';
import { refuseBeyondOwn } from '#domain/service-accounts/authority.ts';
import { type AccountTarget, findAccount, findAccountToChange } from '#domain/service-accounts/store.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { findIssuingRefusal } from './actions.ts';
import { manageAccess } from './operations.ts';

/** A service account, and one of its keys. */
interface AccountKey extends AccountWithFacts {
  readonly key: KeyWithFacts;
}

/** What a caller may do with a key of a service account. */
const accountKeyActions = actionsOf<AccountKey>()({
  rotate: {
    operation: 'service_account_keys.rotate',
    findRefusal: (account, caller) => findIssuingRefusal(account, caller) ?? findRotationRefusal(account.key),
  },
  revoke: { operation: 'service_account_keys.revoke', findRefusal: ({ key }) => findRevocationRefusal(key) },
});

/** Shows a key of a service account with the actions that the caller may take. */
async function showAccountKey(
  em: Em,
  context: ActionContext,
  account: AccountTarget,
  key: ApiKeyDetails,
): Promise<z.input<typeof ApiKeyDetailsView>> {
  const target = { ...(await withAccountFacts(em, account)), key: await withKeyFacts(em, key) };
  return { ...viewApiKey(key), actions: accountKeyActions.describe(context, target) };
}

const AccountParams = z.strictObject({ id: Id });
const KeyParams = AccountParams.extend({ keyID: Id });

/** Listing an account's credentials needs the same authority as managing the account. */
const keysAccess: Access = { ...manageAccess, review: { inherits: 'service_accounts.update' } };

const keysOf = ({ params }: { params: { id: string } }) => [authorityLock(params.id)];

/** The user who is responsible for a new key: the creator or, if an account creates it, the user who is responsible for that account. */
function holderOf({ id }: AccountTarget, caller: Principal) {
  return { principalId: id, kind: 'service_account', issuedBy: caller.responsibleUserId ?? caller.id } as const;
}

/** Refuses a new key to a caller who has less authority than the account. */
async function refuseIssuing(em: Em, caller: Principal, account: AccountTarget): Promise<void> {
  await refuseBeyondOwn(em, caller, account);
  refuseArchived(account);
}

export const list = read({
  id: 'service_account_keys.list',
  resource: 'api_keys',
  route: 'GET /api/v1/service-accounts/:id/api-keys',
  summary: 'List the API keys of a service account',
  params: AccountParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('api_keys', ApiKeyView) },
  access: keysAccess,
  target: ({ em, params }) => findAccount(em, params.id),
  targetName: 'service account',
  handle: async ({ em, target, query }) => {
    const page = await listKeys(em, target.id, query);
    return { api_keys: page.items.map(viewApiKey), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'service_account_keys.get',
  resource: 'api_keys',
  route: 'GET /api/v1/service-accounts/:id/api-keys/:keyID',
  summary: 'Read an API key of a service account',
  params: KeyParams,
  responses: { 200: ApiKeyDetailsView },
  access: keysAccess,
  target: ({ em, params }) => findAccount(em, params.id),
  targetName: 'service account',
  handle: async ({ em, target, params, operations, principal }) => {
    const key = await findKey(em, target.id, params.keyID);
    if (!key) throw new HiddenResource('API key');
    return showAccountKey(em, { operations, principal }, target, key);
  },
});

export const create = command({
  id: 'service_account_keys.create',
  resource: 'api_keys',
  route: 'POST /api/v1/service-accounts/:id/api-keys',
  summary: 'Create an API key for a service account; it is shown once',
  params: AccountParams,
  body: CreateKey,
  responses: { 201: IssuedKeyView },
  at: get,
  access: keysAccess,
  target: ({ em, params, lock }) => findAccount(em, params.id, lock),
  targetName: 'service account',
  idempotency: 'none',
  showsOnce: true,
  locks: keysOf,
  audit: 'api_key.created',
  handle: async ({ tx, principal, target, body }) => {
    await refuseIssuing(tx.em, principal, target);
    const request = { name: body.name, expiresAt: expiryOf(body) };
    const issued = await addKey(tx, principal, holderOf(target, principal), request);
    return issuedChange(target.id, issued);
  },
  atParams: ({ id: keyID }, { params }) => ({ id: params.id, keyID }),
});

export const rotate = command({
  id: 'service_account_keys.rotate',
  resource: 'api_keys',
  route: 'POST /api/v1/service-accounts/:id/api-keys/:keyID/rotate',
  summary: 'Replace a key of a service account by a new one of the same name and lifetime, which is shown once',
  params: KeyParams,
  body: RotateKey,
  responses: { 201: IssuedKeyView },
  at: get,
  access: keysAccess,
  target: ({ em, params, lock }) => findAccountToChange(em, params.id, lock),
  targetName: 'service account',
  idempotency: 'none',
  showsOnce: true,
  locks: keysOf,
  audit: 'api_key.rotated',
  handle: async ({ tx, principal, target, params, body }) => {
    await refuseIssuing(tx.em, principal, target);
    const rotated = await rotateKey(tx, principal, holderOf(target, principal), params.keyID, overlapOf(body));
    return issuedChange(target.id, rotated, rotated.replaced);
  },
  atParams: ({ id: keyID }, { params }) => ({ id: params.id, keyID }),
});

export const revoke = command({
  id: 'service_account_keys.revoke',
  resource: 'api_keys',
  route: 'DELETE /api/v1/service-accounts/:id/api-keys/:keyID',
  summary: 'Revoke an API key of a service account',
  params: KeyParams,
  responses: { 204: Nothing },
  access: keysAccess,
  target: ({ em, params, lock }) => findAccountToChange(em, params.id, lock),
  targetName: 'service account',
  idempotency: 'none',
  locks: keysOf,
  audit: 'api_key.revoked',
  handle: async ({ tx, target, params }) => revokedChange(target.id, await revokeKey(tx.em, target.id, params.keyID)),
});
