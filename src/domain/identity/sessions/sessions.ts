import { jwtVerify, SignJWT } from 'jose';
import { JOSEError } from 'jose/errors';
import type { Em } from '#database/database.ts';
import { type Principal, toPrincipal } from '#domain/shared/access/principal.ts';
import { lockAgainstUse, lockPrincipal } from '#domain/shared/access/store.ts';
import { Unauthenticated } from '#domain/shared/errors.ts';
import { isId, newId } from '#domain/shared/ids.ts';
import type { InstallationKeys } from '#domain/shared/installation/installation.ts';
import { Session, User } from '../entity.ts';
import { emailKey, sessionLifetimeSeconds } from '../model.ts';
import { hashPassword, isOutdated, verifyPassword } from '../passwords/passwords.ts';
import { findPrincipalByEmail, findPrincipalBySession } from './store.ts';

const algorithm = 'HS256';

/** Somebody whose password was right, and which of their passwords that was. */
export interface Verified {
  readonly user: Principal;
  readonly passwordGeneration: number;
  /** The same password at today's cost, where its hash was made when hashing cost less. */
  readonly renewedHash: string | null;
}

/** Who may sign in with this address and password; one answer, in one time, whatever is wrong. */
export async function checkPassword(em: Em, email: string, password: string): Promise<Verified> {
  const [row] = await findPrincipalByEmail(em, { emailKey: emailKey(email) });
  const matches = await verifyPassword(row?.password_hash ?? null, password);
  if (!row || !matches || !row.enabled) throw wrongCredentials();
  const { password_hash: passwordHash, password_generation: passwordGeneration, ...principal } = row;
  const renewedHash = isOutdated(passwordHash) ? await hashPassword(password) : null;
  return { user: toPrincipal(principal, { type: 'session', id: newId() }), passwordGeneration, renewedHash };
}

/** What is kept of where a session was opened from. */
export interface SessionFacts {
  readonly address: string | null;
  readonly userAgent: string | null;
}

/**
 * Opens the session that the user's credential names. The user is locked and looked at again: checking a password takes
 * long enough for another one to be set, or for the user to be disabled, meanwhile.
 */
export async function openSession(em: Em, verified: Verified, facts: SessionFacts): Promise<Session> {
  const { user, passwordGeneration, renewedHash } = verified;
  const current = await lockPrincipal(em, user);
  const [row] = await em.execute<{ generation: number }[]>(
    `select password_generation as generation from users where id = ?`,
    [user.id],
  );
  if (!current?.enabled || row?.generation !== passwordGeneration) throw wrongCredentials();
  if (renewedHash !== null) await em.nativeUpdate(User, { id: user.id }, { passwordHash: renewedHash });
  return addSession(em, user.credential.id, user.id, facts);
}

/** A session of a user whose row is held. It lasts 24 hours. */
export async function addSession(em: Em, id: string, userId: string, facts: SessionFacts): Promise<Session> {
  const session = em.create(Session, {
    ...{ id, userId, expiresAt: new Date(Date.now() + sessionLifetimeSeconds * 1000) },
    ...{ address: facts.address, userAgent: facts.userAgent?.slice(0, 255) ?? null },
  });
  await em.persist(session).flush();
  return session;
}

function wrongCredentials(): Unauthenticated {
  return new Unauthenticated('the e-mail address or the password is wrong');
}

/** The token that names a session: installation, user, session and times, and nothing else that anybody would trust. */
export function signSessionToken(installation: InstallationKeys, session: Session): Promise<string> {
  return new SignJWT({ sid: session.id })
    .setProtectedHeader({ alg: algorithm })
    .setIssuer(installation.id)
    .setSubject(session.userId)
    .setIssuedAt(session.createdAt)
    .setExpirationTime(session.expiresAt)
    .sign(installation.sessionKey);
}

/** The principal of an active session; undefined where the token is no such thing. One query. */
export async function findBySessionToken(
  em: Em,
  installation: InstallationKeys,
  token: string,
): Promise<Principal | undefined> {
  const claims = await verifyToken(installation, token);
  if (!claims) return undefined;
  const [row] = await findPrincipalBySession(em, claims);
  return row && toPrincipal(row, { type: 'session', id: claims.sessionId });
}

async function verifyToken(installation: InstallationKeys, token: string) {
  try {
    const { payload } = await jwtVerify(token, installation.sessionKey, {
      algorithms: [algorithm],
      issuer: installation.id,
      requiredClaims: ['sub', 'sid', 'exp', 'iat'],
    });
    const { sub, sid } = payload;
    if (typeof sub !== 'string' || typeof sid !== 'string' || !isId(sub) || !isId(sid)) return undefined;
    return { userId: sub, sessionId: sid };
  } catch (error) {
    if (error instanceof JOSEError) return undefined;
    throw error;
  }
}

/** Ends one of the user's own sessions; false where it is not theirs or has ended. */
export async function revokeSession(em: Em, userId: string, sessionId: string): Promise<boolean> {
  const revoked = await em.execute<{ id: string }[]>(
    `update sessions set revoked_at = clock_timestamp()
      where id = ? and user_id = ? and revoked_at is null and expires_at > now() returning id`,
    [sessionId, userId],
  );
  if (revoked.length > 0) await lockAgainstUse(em, userId);
  return revoked.length > 0;
}
