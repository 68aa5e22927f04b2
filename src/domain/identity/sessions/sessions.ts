import { jwtVerify, SignJWT } from 'jose';
import { JOSEError } from 'jose/errors';
import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { lockAgainstUse } from '#domain/shared/access/authority-lock.ts';
import { type Principal, toPrincipal } from '#domain/shared/access/principal.ts';
import { lockPrincipal } from '#domain/shared/access/store.ts';
import { Unauthenticated } from '#domain/shared/errors.ts';
import { isId, newId } from '#domain/shared/ids.ts';
import type { InstallationKeys } from '#domain/shared/installation/installation.ts';
import { Session, User } from '../entity.ts';
import type { FindFirst } from '../find-first.ts';
import { emailKey, sessionLifetimeSeconds } from '../model.ts';
import { hashPassword, isOutdated, verifyPassword } from '../passwords/passwords.ts';
import { findPassword } from '../passwords/store.ts';
import { endSession, findPrincipalByEmail, findPrincipalBySession } from './store.ts';

const algorithm = 'HS256';

/** A user whose password was right, with the generation of that password. */
export interface Verified {
  readonly user: Principal;
  readonly passwordGeneration: number;
  /** A new hash of the same password, if the stored one was made at a lower cost than the present one. */
  readonly renewedHash: string | null;
}

/** Checks an e-mail address and a password. Every failure has the same answer and takes the same time. @throws Unauthenticated */
export async function checkPassword(em: Em, email: string, password: string): Promise<Verified> {
  const [row] = await findPrincipalByEmail(em, { emailKey: emailKey(email) });
  const matches = await verifyPassword(row?.passwordHash ?? null, password);
  if (!row || !matches || !row.enabled) throw wrongCredentials();
  const { passwordHash, passwordGeneration, ...principal } = row;
  const renewedHash = isOutdated(passwordHash) ? await hashPassword(password) : null;
  return { user: toPrincipal(principal, { type: 'session', id: newId() }), passwordGeneration, renewedHash };
}

/** The stored facts about where a session was opened from. */
export interface SessionFacts {
  readonly address: string | null;
  readonly userAgent: string | null;
}

/**
 * Opens the session that the user's credential names. It locks and reads the user again, because the password may be changed or the user
 * disabled while the password is checked.
 * @throws Unauthenticated if that has happened
 */
export async function openSession(em: Em, verified: Verified, facts: SessionFacts): Promise<Session> {
  const { user, passwordGeneration, renewedHash } = verified;
  const current = await lockPrincipal(em, user);
  const password = await findPassword(em, user.id);
  if (!current?.enabled || password?.generation !== passwordGeneration) throw wrongCredentials();
  if (renewedHash !== null) (await readForChange(em, User, { id: user.id })).passwordHash = renewedHash;
  return addSession(em, user.credential.id, user.id, facts);
}

/** Opens a session of 24 hours for a user whose row is locked. */
export async function addSession(em: Em, id: string, userId: string, facts: SessionFacts): Promise<Session> {
  const session = em.create(Session, {
    id,
    userId,
    expiresAt: new Date(Date.now() + sessionLifetimeSeconds * 1000),
    address: facts.address,
    userAgent: facts.userAgent?.slice(0, 255) ?? null,
  });
  await em.persist(session).flush();
  return session;
}

function wrongCredentials(): Unauthenticated {
  return new Unauthenticated('the e-mail address or the password is wrong');
}

/** The token of a session. It names installation, user, session and times, and carries no authority. */
export function signSessionToken(installation: InstallationKeys, session: Session): Promise<string> {
  return new SignJWT({ sid: session.id })
    .setProtectedHeader({ alg: algorithm })
    .setIssuer(installation.id)
    .setSubject(session.userId)
    .setIssuedAt(session.createdAt)
    .setExpirationTime(session.expiresAt)
    .sign(installation.sessionKey);
}

/** The principal of an active session, found by one query; undefined if the token is not valid or the session has ended. */
export async function findBySessionToken(
  findFirst: FindFirst,
  installation: InstallationKeys,
  token: string,
): Promise<Principal | undefined> {
  const claims = await verifyToken(installation, token);
  if (!claims) return undefined;
  const row = await findFirst(findPrincipalBySession, claims);
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

/** Ends a session of the user, also for running commands; false if it has ended already or belongs to another user. */
export async function revokeSession(em: Em, userId: string, sessionId: string): Promise<boolean> {
  const isEnded = await endSession(em, userId, sessionId);
  if (isEnded) await lockAgainstUse(em, userId);
  return isEnded;
}
