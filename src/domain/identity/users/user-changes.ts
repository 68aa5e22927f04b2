import type { Em } from '#database/database.ts';
import { brokenConstraint } from '#database/errors.ts';
import { readForChange } from '#database/row-lock.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import { notePrincipalEnd } from '#domain/shared/access/ended-eligibility-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict, Forbidden, Invalid } from '#domain/shared/errors.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import { isRoleAbove, type PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { refuseOutliving } from '../api-keys/bounds.ts';
import { deleteConfirmation } from '../email-confirmations/store.ts';
import { PrincipalRecord, User } from '../entity.ts';
import type { NewUser, UserChange } from '../model.ts';
import { type EndedCredentials, endSignIns, type NewPassword, setPassword } from '../sessions/credentials.ts';
import { refuseLastAdministrator } from './administrators.ts';
import { findUser, type UserTarget } from './store.ts';
import { createUser } from './users.ts';

type Fields = Pick<UserTarget, 'email' | 'name' | 'role' | 'enabled'>;

/**
 * Creates a user.
 * @throws Forbidden for a role above the caller's own, and for a caller whose key expires; Conflict if another user has the address
 */
export async function addUser(em: Em, caller: Principal, user: NewUser, passwordHash: string): Promise<UserTarget> {
  refuseRoleAboveOwn(caller, user.role);
  await refuseOutliving(em, caller, 'password', null);
  const created = await refuseTakenEmail(() => createUser(em, { ...user, passwordHash }));
  return readBack(findUser(em, created.user.id));
}

/** Refuses changes that users may not make to themselves. @throws Forbidden for role and enabled state */
export function refuseOwnPrivileges(caller: Principal, user: Fields & { id: string }, change: UserChange): void {
  if (caller.id !== user.id) return;
  const { role, enabled } = findDifference<Fields>(user, change).after;
  if (role !== undefined) throw new Forbidden(ownPrivileges.role);
  if (enabled !== undefined) throw new Forbidden(ownPrivileges.enabled);
}

/** Why users may not change their own authority. */
export const ownPrivileges = {
  role: 'role: you cannot change your own role',
  enabled: 'enabled: you cannot enable or disable yourself',
} as const;

/** Why users may not set their own password without the current one. */
export const ownPassword =
  'password: you cannot set your own password here: use the operation for your own password, which asks for the current one';

/** Users change their own password only by the operation that requires the current one. @throws Invalid */
export function refuseOwnPassword(caller: Principal, user: { id: string }): void {
  if (caller.id !== user.id) return;
  throw new Invalid(ownPassword);
}

/**
 * Changes a user whose row is locked. A new password ends all the user's sessions and, if requested, the API keys. Disabling ends all
 * sessions too, and every other credential of the user is rejected until the user is enabled again.
 * @throws Forbidden for a role above the caller's own, and for a password if the caller's key expires
 * @throws Conflict for a stale revision, an address that is taken, or if no administrator would be left
 */
export async function updateUser(
  em: Em,
  caller: Principal,
  user: UserTarget,
  { expectedRevision, ...wanted }: UserChange,
  password: NewPassword | null,
): Promise<{ updated: UserTarget; difference: Difference<Fields>; ended: EndedCredentials | null }> {
  const { email, name, role, enabled } = user;
  const difference = findDifference<Fields>({ email, name, role, enabled }, wanted);
  const isEmpty = difference.isEmpty && password === null;
  const { after } = difference;
  if (!isEmpty) refuseRoleAboveOwn(caller, user.role);
  if (after.role !== undefined) refuseRoleAboveOwn(caller, after.role);
  if (password !== null) await refuseOutliving(em, caller, 'password', null);
  refuseStale(user, expectedRevision);
  if (isEmpty) return { updated: user, difference, ended: null };
  if (!staysAdministrator(user, after)) await refuseLastAdministrator(em, user);
  await writeFields(em, user.id, after);
  if (after.enabled === false) await endSignIns(em, user.id);
  const ended = password === null ? null : await setPassword(em, user.id, password);
  return { updated: await readBack(findUser(em, user.id)), difference, ended };
}

/** Refuses to grant a role above the caller's own, or a credential of a principal with such a role. @throws Forbidden */
export function refuseRoleAboveOwn(caller: Principal, role: PlatformRole): void {
  const message = findRoleAboveOwn(caller, role);
  if (message !== null) throw new Forbidden(message);
}

/** The message of that refusal; null if the role is not above the caller's own. */
export function findRoleAboveOwn(caller: Principal, role: PlatformRole): string | null {
  if (isPlatformAdministrator(caller) || (caller.role && !isRoleAbove(role, caller.role))) return null;
  return `role: ${role} is above your own`;
}

function staysAdministrator({ role, enabled }: Fields, after: Partial<Fields>): boolean {
  return (after.role ?? role) === 'admin' && (after.enabled ?? enabled);
}

async function writeFields(em: Em, id: string, { email, ...fields }: Partial<Fields>): Promise<void> {
  const principal = await readForChange(em, PrincipalRecord, { id });
  principal.change(fields);
  if (email !== undefined) {
    (await readForChange(em, User, { id })).changeEmail(email);
    await deleteConfirmation(em, id);
  }
  await refuseTakenEmail(() => em.flush());
  if (fields.enabled === false) await notePrincipalEnd(em, id);
}

/** @throws Conflict if another user has the address that is written */
async function refuseTakenEmail<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (brokenConstraint(error) === 'users_email_key_unique') {
      throw new Conflict('email: another user has this address', 'email_taken');
    }
    throw error;
  }
}
