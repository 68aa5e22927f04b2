import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import { findExpiry } from './store.ts';

/**
 * When the key that the caller uses expires; null for a key that never does, and for a session. Nothing that is made with a key
 * may outlive it: whoever has stolen the key could keep its authority otherwise. The caller's `authorityLock` is held.
 */
export async function findBound(em: Em, { credential }: Principal): Promise<Date | null> {
  if (credential.type !== 'api_key') return null;
  const expiresAt = await findExpiry(em, credential.id);
  return expiresAt === null ? null : new Date(expiresAt);
}

/** Refuses an expiry later than that of the caller's own key; null is later than any. @throws Forbidden */
export async function refuseOutliving(em: Em, caller: Principal, expiresAt: Date | null): Promise<void> {
  const bound = await findBound(em, caller);
  if (bound === null || (expiresAt !== null && expiresAt <= bound)) return;
  throw new Forbidden(
    `permission denied: the key that you use expires at ${bound.toISOString()}, and a key makes none that outlives it: name an ` +
      'expires_at until then, or sign in',
  );
}

/** The earlier one of an expiry and that of the caller's own key. */
export async function withinBound<Expiry extends Date | null>(em: Em, caller: Principal, expiresAt: Expiry) {
  const bound = await findBound(em, caller);
  if (bound === null) return expiresAt;
  return expiresAt !== null && expiresAt <= bound ? expiresAt : bound;
}
