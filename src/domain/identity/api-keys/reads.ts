import type { Em } from '#database/database.ts';
import { selectPage } from '#domain/shared/list.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import type { ApiKeyKind } from '../model.ts';

export const apiKeyStates = ['active', 'expired', 'revoked'] as const;
export type ApiKeyState = (typeof apiKeyStates)[number];

/** All that is ever shown of a key: what identifies it, and never what it is checked by. */
export interface KeyRow {
  readonly id: string;
  readonly kind: ApiKeyKind;
  readonly name: string;
  readonly hint: string;
  readonly state: ApiKeyState;
  readonly issued_by: string;
  readonly rotated_from: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}

const selectKeys = `
  select k.id, k.kind, k.name, k.hint, k.issued_by, k.rotated_from, k.created_at, k.expires_at, k.revoked_at, u.last_used_at,
         case when k.revoked_at is not null then 'revoked' when k.expires_at <= clock_timestamp() then 'expired'
              else 'active' end as state
    from api_keys k left join api_key_uses u on u.key_id = k.id where true`;

/** A principal's keys, those that ended included. */
export function listKeys(em: Em, principalId: string, request: PageRequest): Promise<Page<KeyRow>> {
  return selectPage(em, selectKeys, new Where().and('k.principal_id = ?', principalId), 'k.id', request);
}

/** One of a principal's keys; undefined where it is somebody else's. */
export async function findKey(em: Em, principalId: string, keyId: string): Promise<KeyRow | undefined> {
  const rows = await em.execute<KeyRow[]>(`${selectKeys} and k.principal_id = ? and k.id = ?`, [principalId, keyId]);
  return rows[0];
}
