import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { addKey, regenerateProfileKey, revokeKey, rotateKey } from '#domain/identity/api-keys/changes.ts';
import { findKey, listKeys } from '#domain/identity/api-keys/store.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { HiddenResource } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { ApiKeyDetailsView, showOwnKey } from './key-actions.ts';
import { own } from './session-operations.ts';
import {
  ApiKeyView,
  CreateKey,
  expiryOf,
  IssuedKeyView,
  issuedChange,
  overlapOf,
  RegenerateKey,
  RotateKey,
  revokedChange,
  viewApiKey,
} from './views.ts';

const KeyParams = z.strictObject({ id: Id });

/** A service account may list and revoke its own keys; creating them is part of managing the account. */
const ownAsPerson: Access = { ...own, principals: ['user'] };

const ownKeys = ({ principal }: { principal: Principal }) => [authorityLock(principal.id)];

export const listApiKeys = read({
  id: 'profile.list_api_keys',
  route: 'GET /api/v1/profile/api-keys',
  summary: 'List your own API keys',
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('api_keys', ApiKeyView) },
  access: own,
  resource: 'api_keys',
  handle: async ({ em, principal, query }) => {
    const page = await listKeys(em, principal.id, query);
    return { api_keys: page.items.map(viewApiKey), next_cursor: page.nextCursor };
  },
});

export const getApiKey = read({
  id: 'profile.get_api_key',
  route: 'GET /api/v1/profile/api-keys/:id',
  summary: 'Read one of your own API keys',
  params: KeyParams,
  responses: { 200: ApiKeyDetailsView },
  access: own,
  resource: 'api_keys',
  handle: async ({ em, principal, params, operations }) => {
    const key = await findKey(em, principal.id, params.id);
    if (!key) throw new HiddenResource('API key');
    return showOwnKey(em, { operations, principal }, key);
  },
});

export const createApiKey = command({
  id: 'profile.create_api_key',
  route: 'POST /api/v1/profile/api-keys',
  summary: 'Create a personal API key; it is shown once',
  body: CreateKey,
  responses: { 201: IssuedKeyView },
  at: getApiKey,
  access: ownAsPerson,
  idempotency: 'none',
  showsOnce: true,
  locks: ownKeys,
  audit: 'api_key.created',
  resource: 'api_keys',
  handle: async ({ tx, principal, body }) => {
    const holder = { principalId: principal.id, kind: 'personal', issuedBy: principal.id } as const;
    const issued = await addKey(tx, principal, holder, { name: body.name, expiresAt: expiryOf(body) });
    return issuedChange(principal.id, issued);
  },
});

export const rotateApiKey = command({
  id: 'profile.rotate_api_key',
  route: 'POST /api/v1/profile/api-keys/:id/rotate',
  summary: 'Replace one of your personal API keys by a new one of the same name and lifetime, which is shown once',
  params: KeyParams,
  body: RotateKey,
  responses: { 201: IssuedKeyView },
  at: getApiKey,
  access: ownAsPerson,
  idempotency: 'none',
  showsOnce: true,
  locks: ownKeys,
  audit: 'api_key.rotated',
  resource: 'api_keys',
  handle: async ({ tx, principal, params, body }) => {
    const holder = { principalId: principal.id, issuedBy: principal.id };
    const rotated = await rotateKey(tx, principal, holder, params.id, overlapOf(body));
    return issuedChange(principal.id, rotated, rotated.replaced);
  },
});

export const revokeApiKey = command({
  id: 'profile.revoke_api_key',
  route: 'DELETE /api/v1/profile/api-keys/:id',
  summary: 'Revoke one of your own API keys',
  params: KeyParams,
  responses: { 204: Nothing },
  access: own,
  idempotency: 'none',
  locks: ownKeys,
  audit: 'api_key.revoked',
  resource: 'api_keys',
  handle: async ({ tx, principal, params }) =>
    revokedChange(principal.id, await revokeKey(tx.em, principal.id, params.id)),
});

export const regenerateApiKey = command({
  id: 'profile.regenerate_api_key',
  route: 'POST /api/v1/profile/api-key/regenerate',
  summary: 'Regenerate your profile API key; it is shown once',
  description: 'The earlier profile key is revoked in the same step. Personal keys stay.',
  body: RegenerateKey,
  responses: { 201: IssuedKeyView },
  at: getApiKey,
  access: ownAsPerson,
  idempotency: 'none',
  showsOnce: true,
  locks: ownKeys,
  audit: 'api_key.regenerated',
  resource: 'api_keys',
  handle: async ({ tx, principal, body }) => {
    const issued = await regenerateProfileKey(tx, principal, expiryOf(body));
    return issuedChange(principal.id, issued, issued.replaced);
  },
});
