import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import { brokenConstraint } from '#database/errors.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict, Forbidden, Invalid } from '#domain/shared/errors.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import { PrincipalRecord, User } from '../entity.ts';
import { type CreateUser, emailKey, isRoleAbove, type PlatformRole, type UpdateUser } from '../model.ts';
import { endSignIns, setPassword } from '../sessions/credentials.ts';
import { refuseLastAdministrator } from './administrators.ts';
import { findUser, type UserTarget } from './user-targets.ts';
import { createUser } from './users.ts';

type Fields = Pick<UserTarget, 'email' | 'name' | 'role' | 'enabled'>;

/** Makes a user on behalf of somebody. @throws Conflict where another user has the address */
export async function addUser(
  em: Em,
  caller: Principal,
  { password: _, ...request }: z.output<typeof CreateUser>,
  passwordHash: string,
): Promise<UserTarget> {
  refuseRoleAboveOwn(caller, request.role);
  const { user } = await underFreeEmail(() => createUser(em, { ...request, passwordHash }));
  return readBack(findUser(em, user.id));
}

/** What nobody may change about themselves. @throws Forbidden; Invalid for a password, which has a way of its own */
export function refuseOwnPrivileges(
  caller: Principal,
  user: Fields & { id: string },
  request: z.output<typeof UpdateUser>,
) {
  if (caller.id !== user.id) return;
  if (request.password !== undefined) refuseOwnPassword(caller, user);
  const { role, enabled } = findDifference<Fields>(user, request).after;
  if (role !== undefined) throw new Forbidden('permission denied: role: nobody changes their own role');
  if (enabled !== undefined) throw new Forbidden('permission denied: enabled: nobody enables or disables themselves');
}

/** Whoever changes their own password shows that they know it. @throws Invalid */
export function refuseOwnPassword(caller: Principal, user: { id: string }): void {
  if (caller.id !== user.id) return;
  throw new Invalid('password: nobody sets their own password here; change it by POST /profile/password');
}

/**
 * Changes a user, whose row the caller of this function holds. A new password ends all the user's sessions, and so does
 * disabling, which rejects every other credential as well for as long as it lasts.
 * @throws Conflict for a stale revision, an address that is taken, or where no administrator would be left
 */
export async function updateUser(
  em: Em,
  caller: Principal,
  user: UserTarget,
  { expected_revision: expected, password: _, ...wanted }: z.output<typeof UpdateUser>,
  passwordHash: string | null,
): Promise<{ updated: UserTarget; difference: Difference<Fields> }> {
  const { email, name, role, enabled } = user;
  const difference = findDifference<Fields>({ email, name, role, enabled }, wanted);
  const isEmpty = difference.isEmpty && passwordHash === null;
  const { after } = difference;
  if (!isEmpty) refuseRoleAboveOwn(caller, user.role);
  if (after.role !== undefined) refuseRoleAboveOwn(caller, after.role);
  refuseStale(user, expected);
  if (isEmpty) return { updated: user, difference };
  if (!staysAdministrator(user, after)) await refuseLastAdministrator(em, user);
  await writePrincipal(em, user, after);
  if (after.email !== undefined) await writeEmail(em, user.id, after.email);
  if (after.enabled === false) await endSignIns(em, user.id);
  if (passwordHash !== null) await setPassword(em, user.id, passwordHash);
  return { updated: await readBack(findUser(em, user.id)), difference };
}

/** Nobody grants a role above their own, or issues a credential for somebody of such a role. @throws Forbidden */
export function refuseRoleAboveOwn(caller: Principal, role: PlatformRole): void {
  if (isPlatformAdministrator(caller) || (caller.role && !isRoleAbove(role, caller.role))) return;
  throw new Forbidden(`permission denied: role: ${role} is above your own`);
}

function staysAdministrator({ role, enabled }: Fields, after: Partial<Fields>): boolean {
  return (after.role ?? role) === 'admin' && (after.enabled ?? enabled);
}

/** What was granted against an earlier generation of a user who was disabled never revives. */
async function writePrincipal(em: Em, user: UserTarget, { name, role, enabled }: Partial<Fields>): Promise<void> {
  await em.nativeUpdate(
    PrincipalRecord,
    { id: user.id },
    {
      ...(name !== undefined && { name }),
      ...(role !== undefined && { role }),
      ...(enabled !== undefined && { enabled }),
      ...(enabled === false && { eligibilityGeneration: user.eligibilityGeneration + 1 }),
      revision: user.revision + 1,
    },
  );
}

async function writeEmail(em: Em, id: string, email: string): Promise<void> {
  await underFreeEmail(() => em.nativeUpdate(User, { id }, { email, emailKey: emailKey(email) }));
}

async function underFreeEmail<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (brokenConstraint(error) === 'users_email_key_unique') {
      throw new Conflict('email: another user has this address');
    }
    throw error;
  }
}
