import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { takeQuota } from '#domain/quotas/use/take.ts';
import { lockAgainstUse } from '#domain/shared/access/authority-lock.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, HiddenResource, Invalid } from '#domain/shared/errors.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { ApiKey } from '../entity.ts';
import type { ApiKeyKind } from '../model.ts';
import { findRevocationRefusal, findRotationRefusal, withKeyFacts } from './actions.ts';
import { issueApiKey } from './api-keys.ts';
import { refuseOutliving, withinBound } from './bounds.ts';
import { type ApiKeyDetails, countActiveKeys, expireKeyIn, findKey, findKeyOwner, revokeProfileKey } from './store.ts';

/** How many keys of one principal may be active at once: enough for any use, and few enough not to fill the table. */
export const maxActiveKeys = 50;

/** How long a rotated key may stay valid, so that its successor can be rolled out everywhere it is used. */
export const maxOverlapSeconds = 7 * 24 * 60 * 60;

/** The principal of a new key, and the user who answers for it. */
export interface KeyHolder {
  readonly principalId: string;
  readonly kind: ApiKeyKind;
  readonly issuedBy: string;
}

/** A new key; `key` is its plaintext, which exists nowhere else. */
export interface IssuedKey {
  readonly apiKey: ApiKeyDetails;
  readonly key: string;
}

/**
 * Creates a key. The transaction holds the principal's `authorityLock`.
 * @throws Invalid for an expiry in the past; Forbidden for one later than that of the caller's own key; Conflict if there are too many keys
 */
export async function addKey(
  tx: Transaction,
  caller: Principal,
  holder: KeyHolder,
  { name, expiresAt }: { name: string; expiresAt: Date | null },
): Promise<IssuedKey> {
  if (expiresAt && expiresAt <= new Date()) throw new Invalid('expires_at: must lie in the future');
  await refuseOutliving(tx.em, caller, 'key', expiresAt);
  return insertKey(tx, holder, { name, expiresAt });
}

/**
 * Revokes a key: the next request with it is refused. The transaction holds the principal's `authorityLock`.
 * @throws HiddenResource if the principal has no such key; Conflict if it is revoked already
 */
export async function revokeKey(em: Em, principalId: string, keyId: string): Promise<ApiKeyDetails> {
  const key = await findKey(em, principalId, keyId);
  if (!key) throw new HiddenResource('API key');
  throwIfRefused(findRevocationRefusal(key));
  await endKey(em, principalId, key, 0);
  return key;
}

/**
 * Replaces a key by a new one of the same name and the same lifetime, which begins now. The old key ends at once, or stays valid for the
 * overlap, but never longer than before. The new one does not outlive the key that the caller uses. The transaction holds the principal's
 * `authorityLock`.
 * @throws HiddenResource, or Conflict if the key is no longer active, has a successor already, or is the profile key
 */
export async function rotateKey(
  tx: Transaction,
  caller: Principal,
  { principalId, issuedBy }: Omit<KeyHolder, 'kind'>,
  keyId: string,
  overlapSeconds: number,
): Promise<IssuedKey & { replaced: ApiKeyDetails }> {
  const replaced = await findKey(tx.em, principalId, keyId);
  if (!replaced) throw new HiddenResource('API key');
  throwIfRefused(findRotationRefusal(await withKeyFacts(tx.em, replaced)));
  const expiresAt = await withinBound(tx.em, caller, expiryLike(replaced));
  await endKey(tx.em, principalId, replaced, overlapSeconds);
  const { kind, name } = replaced;
  const issued = await insertKey(tx, { principalId, kind, issuedBy }, { name, expiresAt }, keyId);
  return { ...issued, replaced: await readBack(findKey(tx.em, principalId, keyId)) };
}

/**
 * Creates the profile key of the caller in place of the earlier one; personal keys stay. The transaction holds the user's `authorityLock`.
 * (specification, *API key*)
 */
export async function regenerateProfileKey(
  tx: Transaction,
  caller: Principal,
  expiresAt: Date | null,
): Promise<IssuedKey & { replaced: { id: string } | null }> {
  const old = await revokeProfileKey(tx.em, caller.id);
  await lockAgainstUse(tx.em, caller.id);
  const holder = { principalId: caller.id, kind: 'profile', issuedBy: caller.id } as const;
  return { ...(await addKey(tx, caller, holder, { name: 'profile', expiresAt })), replaced: old ?? null };
}

/** The expiry that gives a new key the lifetime of the old one; null for a key that never expires. */
function expiryLike({ createdAt, expiresAt }: ApiKeyDetails): Date | null {
  if (expiresAt === null) return null;
  return new Date(Date.now() + Date.parse(expiresAt) - Date.parse(createdAt));
}

/** Revokes a key now, so that no later commit relies on it. With an overlap, the key expires after the overlap instead. */
async function endKey(em: Em, principalId: string, { id }: ApiKeyDetails, overlapSeconds: number): Promise<void> {
  if (overlapSeconds > 0) return expireKeyIn(em, id, overlapSeconds);
  (await readForChange(em, ApiKey, { id })).revokedAt = new Date();
  await em.flush();
  await lockAgainstUse(em, principalId);
}

async function insertKey(
  tx: Transaction,
  { principalId, kind, issuedBy }: KeyHolder,
  { name, expiresAt }: { name: string; expiresAt: Date | null },
  rotatedFrom: string | null = null,
): Promise<IssuedKey> {
  await refuseTooMany(tx.em, principalId);
  const { apiKey, key } = issueApiKey(tx.em, { principalId, kind, name, expiresAt, issuedBy, rotatedFrom });
  await tx.em.flush();
  await takeQuota(tx, { teamId: await findKeyOwner(tx.em, principalId) }, { api_keys: 1 });
  return { apiKey: await readBack(findKey(tx.em, principalId, apiKey.id)), key };
}

async function refuseTooMany(em: Em, principalId: string): Promise<void> {
  if ((await countActiveKeys(em, principalId)) < maxActiveKeys) return;
  throw new Conflict(
    `there are already ${maxActiveKeys} active keys, which is the limit: revoke one first`,
    'limit_reached',
  );
}
