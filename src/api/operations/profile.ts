import { z } from 'zod';
import { issueApiKey } from '#domain/identity/api-keys.ts';
import { ApiKey } from '#domain/identity/entity.ts';
import { PersonName } from '#domain/identity/model.ts';
import { Invalid, NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { afterId, pageQuery, toPage, Where } from '#domain/shared/paging.ts';
import { command, read } from '../operation.ts';
import { Nothing, pageOf, Time } from '../views/common.ts';
import { own } from './auth.ts';

const ApiKeyView = z.object({
  id: z.string(),
  name: z.string(),
  hint: z.string(),
  created_at: Time,
  expires_at: Time.nullable(),
  revoked_at: Time.nullable(),
  last_used_at: Time.nullable(),
});

interface ApiKeyRow {
  id: string;
  name: string;
  hint: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

const apiKeyColumns = `k.id, k.name, k.hint, k.created_at, k.expires_at, k.revoked_at, u.last_used_at
  from api_keys k left join api_key_uses u on u.key_id = k.id`;

export const listApiKeys = read({
  id: 'profile.list_api_keys',
  route: 'GET /api/v1/profile/api-keys',
  summary: 'List your own API keys',
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('api_keys', ApiKeyView) },
  access: own,
  handle: async ({ em, principal, query }) => {
    const where = new Where().and('k.principal_id = ?', principal.id).andIf(afterId(query), 'k.id < ?');
    const rows = await em.execute<ApiKeyRow[]>(
      `select ${apiKeyColumns} where ${where.sql} order by k.id desc limit ?`,
      [...where.params, query.limit + 1],
    );
    const page = toPage(rows, query);
    return { api_keys: page.items, next_cursor: page.nextCursor };
  },
});

export const getApiKey = read({
  id: 'profile.get_api_key',
  route: 'GET /api/v1/profile/api-keys/:id',
  summary: 'Read one of your own API keys',
  params: z.strictObject({ id: Id }),
  responses: { 200: ApiKeyView },
  access: own,
  handle: async ({ em, principal, params }) => {
    const rows = await em.execute<ApiKeyRow[]>(`select ${apiKeyColumns} where k.principal_id = ? and k.id = ?`, [
      principal.id,
      params.id,
    ]);
    if (!rows[0]) throw new NotFound('API key');
    return rows[0];
  },
});

export const createApiKey = command({
  id: 'profile.create_api_key',
  route: 'POST /api/v1/profile/api-keys',
  summary: 'Make an API key for yourself; it is shown once',
  body: z.strictObject({ name: PersonName, expires_at: z.iso.datetime({ offset: true }).optional() }),
  responses: { 201: z.object({ api_key: ApiKeyView, key: z.string() }) },
  access: own,
  idempotency: 'none',
  audit: 'api_key.created',
  handle: async ({ tx, principal, body }) => {
    const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at);
    if (expiresAt && expiresAt <= new Date()) throw new Invalid('expires_at: must lie in the future');
    const request = { principalId: principal.id, name: body.name, expiresAt, issuedBy: principal.id };
    const { apiKey, key } = issueApiKey(tx.em, request);
    await tx.em.flush();
    return {
      status: 201,
      location: `/api/v1/profile/api-keys/${apiKey.id}`,
      audit: { action: 'api_key.created', resource: { type: 'api_keys', id: apiKey.id }, after: { name: body.name } },
      body: { key, api_key: viewNew(apiKey) },
    };
  },
});

export const revokeApiKey = command({
  id: 'profile.revoke_api_key',
  route: 'DELETE /api/v1/profile/api-keys/:id',
  summary: 'Revoke one of your own API keys',
  params: z.strictObject({ id: Id }),
  responses: { 204: Nothing },
  access: own,
  idempotency: 'none',
  audit: 'api_key.revoked',
  handle: async ({ tx, principal, params }) => {
    const revoked = await tx.em.nativeUpdate(
      ApiKey,
      { id: params.id, principalId: principal.id, revokedAt: null },
      { revokedAt: new Date() },
    );
    if (revoked === 0) throw new NotFound('API key');
    return { status: 204, audit: { action: 'api_key.revoked', resource: { type: 'api_keys', id: params.id } } };
  },
});

function viewNew(apiKey: ApiKey) {
  const { id, name, hint, createdAt, expiresAt } = apiKey;
  return { id, name, hint, created_at: createdAt, expires_at: expiresAt ?? null, revoked_at: null, last_used_at: null };
}
