import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import { findExpiry } from './store.ts';

/**
 * When the key that the caller uses expires; null for a key that never does, and for a session. Nothing that is created with a key may
 * outlive it: otherwise somebody who has stolen the key could keep its authority. The transaction must hold the caller's `authorityLock`.
 */
export async function findBound(em: Em, { credential }: Principal): Promise<Date | null> {
  if (credential.type !== 'api_key') return null;
  const expiresAt = await findExpiry(em, credential.id);
  return expiresAt === null ? null : new Date(expiresAt);
}

/** The things that give authority for longer than one request, with the advice for a caller whose key expires too early. */
const remedies = {
  key: 'name an expires_at until then, or sign in',
  password: 'a password never expires: set it with a session, or with a key that never expires',
  'password reset link':
    'the password that is set with it never expires: make the link with a session, or with a key that never expires',
  invitation: 'name an expires_in that ends before, or invite with a session or with a key that expires later',
} as const;

/**
 * Refuses to create something that would give authority after the caller's own key has expired.
 * @param expiresAt when it expires; null: never
 * @throws Forbidden
 */
export async function refuseOutliving(
  em: Em,
  caller: Principal,
  made: keyof typeof remedies,
  expiresAt: Date | null,
): Promise<void> {
  const bound = await findBound(em, caller);
  if (bound === null || (expiresAt !== null && expiresAt <= bound)) return;
  throw new Forbidden(
    `permission denied: the key that you use expires at ${bound.toISOString()}, and it makes no ${made} that outlives it: ` +
      remedies[made],
  );
}

/** The earlier one of an expiry and that of the caller's own key. */
export async function withinBound<Expiry extends Date | null>(em: Em, caller: Principal, expiresAt: Expiry) {
  const bound = await findBound(em, caller);
  if (bound === null) return expiresAt;
  return expiresAt !== null && expiresAt <= bound ? expiresAt : bound;
}
