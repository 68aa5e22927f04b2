import type { Em } from '#database/database.ts';
import { lockAgainstUse } from '#domain/shared/access/store.ts';
import { Conflict, Invalid, NotFound } from '#domain/shared/errors.ts';
import { readBack } from '#domain/shared/revisions.ts';
import type { ApiKeyKind } from '../model.ts';
import { issueApiKey } from './api-keys.ts';
import { findKey, type KeyRow } from './reads.ts';

/** How many keys of one principal may be active at once: enough for anybody, and no way to fill a table. */
export const mostActiveKeys = 50;

/** How long a key that was replaced may stay valid: the time to bring its successor everywhere it is used. */
export const longestOverlapSeconds = 7 * 24 * 60 * 60;

/** Whose key it is to be, and who answers for it. */
export interface KeyHolder {
  readonly principalId: string;
  readonly kind: ApiKeyKind;
  readonly issuedBy: string;
}

/** A key that was just made; `key` is its plaintext, which exists nowhere else. */
export interface IssuedKey {
  readonly apiKey: KeyRow;
  readonly key: string;
}

/** Makes a key. The principal's `authorityLock` is held. @throws Invalid for a time that is over; Conflict where there are too many */
export async function addKey(
  em: Em,
  holder: KeyHolder,
  { name, expiresAt }: { name: string; expiresAt: Date | null },
): Promise<IssuedKey> {
  if (expiresAt && expiresAt <= new Date()) throw new Invalid('expires_at: must lie in the future');
  return insertKey(em, holder, { name, expiresAt });
}

/** Revokes a key, which holds on the next request. The principal's `authorityLock` is held. @throws NotFound where it is not active */
export async function revokeKey(em: Em, principalId: string, keyId: string): Promise<KeyRow> {
  const key = await findKey(em, principalId, keyId);
  if (!key || key.state === 'revoked') throw new NotFound('API key');
  await endKey(em, principalId, key, 0);
  return key;
}

/**
 * Replaces a key by a new one of the same name and, from now on, the same lifetime. The old one ends at once, or stays
 * valid for the overlap, though never longer than it would have been. The principal's `authorityLock` is held.
 * @throws NotFound, or Conflict where the key ended, has a successor already, or is the profile key
 */
export async function rotateKey(
  em: Em,
  { principalId, issuedBy }: Omit<KeyHolder, 'kind'>,
  keyId: string,
  overlapSeconds: number,
): Promise<IssuedKey & { replaced: KeyRow }> {
  const replaced = await findKey(em, principalId, keyId);
  if (!replaced) throw new NotFound('API key');
  await refuseRotation(em, replaced);
  await endKey(em, principalId, replaced, overlapSeconds);
  const { kind, name } = replaced;
  const issued = await insertKey(em, { principalId, kind, issuedBy }, { name, expiresAt: renewed(replaced) }, keyId);
  return { ...issued, replaced: await readBack(findKey(em, principalId, keyId)) };
}

/**
 * Makes the profile key of a user, in place of the one there was; personal keys stay. The principal's `authorityLock` is held.
 * (specification, *API key*)
 */
export async function regenerateProfileKey(
  em: Em,
  userId: string,
  expiresAt: Date | null,
): Promise<IssuedKey & { replaced: { id: string } | null }> {
  const [old] = await em.execute<{ id: string }[]>(
    `update api_keys set revoked_at = clock_timestamp()
      where principal_id = ? and kind = 'profile' and revoked_at is null returning id`,
    [userId],
  );
  await lockAgainstUse(em, userId);
  const holder = { principalId: userId, kind: 'profile', issuedBy: userId } as const;
  return { ...(await addKey(em, holder, { name: 'profile', expiresAt })), replaced: old ?? null };
}

async function refuseRotation(em: Em, { id, kind, state }: KeyRow): Promise<void> {
  if (kind === 'profile')
    throw new Conflict('this is the profile key: replace it by POST /api/v1/profile/api-key/regenerate');
  if (state !== 'active') throw new Conflict(`the key is ${state}: make another one`);
  const [row] = await em.execute<[{ exists: boolean }]>(
    `select exists (select 1 from api_keys where rotated_from = ?)`,
    [id],
  );
  if (row.exists) throw new Conflict('the key was rotated already: rotate the one that took its place');
}

/** As long from now as the old key was made to live; null: without end. */
function renewed({ created_at: createdAt, expires_at: expiresAt }: KeyRow): Date | null {
  if (expiresAt === null) return null;
  return new Date(Date.now() + Date.parse(expiresAt) - Date.parse(createdAt));
}

/** What is revoked at once is used by no command that is committed later. */
async function endKey(em: Em, principalId: string, { id }: KeyRow, inSeconds: number): Promise<void> {
  const change =
    inSeconds === 0
      ? `revoked_at = clock_timestamp()`
      : `expires_at = least(expires_at, clock_timestamp() + ? * interval '1 second')`;
  await em.execute(`update api_keys set ${change} where id = ?`, inSeconds === 0 ? [id] : [inSeconds, id]);
  if (inSeconds === 0) await lockAgainstUse(em, principalId);
}

async function insertKey(
  em: Em,
  { principalId, kind, issuedBy }: KeyHolder,
  { name, expiresAt }: { name: string; expiresAt: Date | null },
  rotatedFrom: string | null = null,
): Promise<IssuedKey> {
  await refuseTooMany(em, principalId);
  const { apiKey, key } = issueApiKey(em, { principalId, kind, name, expiresAt, issuedBy, rotatedFrom });
  await em.flush();
  return { apiKey: await readBack(findKey(em, principalId, apiKey.id)), key };
}

async function refuseTooMany(em: Em, principalId: string): Promise<void> {
  const [row] = await em.execute<[{ active: number }]>(
    `select count(*)::int as active from api_keys
      where principal_id = ? and revoked_at is null and coalesce(expires_at > clock_timestamp(), true)`,
    [principalId],
  );
  if (row.active < mostActiveKeys) return;
  throw new Conflict(`there are ${mostActiveKeys} active keys already, which is the most: revoke one first`);
}
