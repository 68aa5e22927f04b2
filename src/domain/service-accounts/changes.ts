import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { PrincipalRecord } from '#domain/identity/entity.ts';
import { refuseLastAdministrator } from '#domain/identity/users/administrators.ts';
import { refuseRoleAboveOwn } from '#domain/identity/users/user-changes.ts';
import { lockAgainstUse } from '#domain/shared/access/authority-lock.ts';
import { notePrincipalEnd } from '#domain/shared/access/ended-eligibility-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { cascadeDeletion, markDeleted } from '#domain/shared/ownership-graph/deletion.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { teamRoleOfAccount } from '#domain/shared/vocabulary/roles.ts';
import { refuseBeyondOwn } from './authority.ts';
import { ServiceAccount } from './entity.ts';
import type { AccountChange, NewAccount } from './model.ts';
import type { OwnerTarget } from './owners.ts';
import { type AccountTarget, findAccount, setTeamRoles } from './store.ts';

/** Creates a service account of an owner. @throws Forbidden for a role above the caller's own; Conflict for an archived team */
export async function createAccount(
  em: Em,
  caller: Principal,
  owner: OwnerTarget,
  { name, role }: NewAccount,
): Promise<AccountTarget> {
  refuseRoleAboveOwn(caller, role);
  refuseArchived(owner);
  const id = newId();
  await em.persist(em.create(PrincipalRecord, { id, kind: 'service_account', name, role })).flush();
  const { ownerUserId, teamId: ownerTeamId } = owner;
  await em.persist(em.create(ServiceAccount, { id, ownerUserId, ownerTeamId, createdBy: caller.id })).flush();
  return readBack(findAccount(em, id));
}

type Fields = Pick<AccountTarget, 'name' | 'role'>;

/**
 * Changes name and role of an account whose row is locked. A new platform role also changes its role in all its teams.
 * @throws Conflict for a stale revision, or if no administrator would be left
 * @throws Forbidden for a role with more authority than the caller's own, and for an account's own role
 */
export async function updateAccount(
  em: Em,
  caller: Principal,
  account: AccountTarget,
  { expectedRevision, ...wanted }: AccountChange,
): Promise<{ updated: AccountTarget; difference: Difference<Fields> }> {
  const difference = findDifference<Fields>({ name: account.name, role: account.role }, wanted);
  const { role } = difference.after;
  if (role !== undefined) await refuseRole(em, caller, account, role);
  refuseArchived(account);
  refuseStale(account, expectedRevision);
  if (difference.isEmpty) return { updated: account, difference };
  if (role !== undefined) await changeRole(em, account, role);
  await changePrincipal(em, account.id, difference.after);
  return { updated: await readBack(findAccount(em, account.id)), difference };
}

async function refuseRole(em: Em, caller: Principal, account: AccountTarget, role: PlatformRole): Promise<void> {
  refuseOnItself(caller, account);
  await refuseBeyondOwn(em, caller, account, role);
}

async function changeRole(em: Em, account: AccountTarget, role: PlatformRole): Promise<void> {
  await refuseLastAdministrator(em, account);
  await setTeamRoles(em, account.id, teamRoleOfAccount[role]);
}

/**
 * Enables or disables an account whose row is locked; false if it is in that state already. Grants from before it was disabled
 * never become valid again.
 * @throws Forbidden for an account's own state, and to enable an account with more authority than the caller's own
 * @throws Conflict if no administrator would be left, or the owner team is archived
 */
export async function setAccountEnabled(
  em: Em,
  caller: Principal,
  account: AccountTarget,
  enabled: boolean,
): Promise<boolean> {
  refuseOnItself(caller, account);
  if (account.enabled === enabled) return false;
  if (enabled) {
    await refuseBeyondOwn(em, caller, account);
    refuseArchived(account);
  } else await refuseLastAdministrator(em, account);
  await changePrincipal(em, account.id, { enabled });
  return true;
}

async function changePrincipal(em: Em, id: string, change: Parameters<PrincipalRecord['change']>[0]): Promise<void> {
  const principal = await readForChange(em, PrincipalRecord, { id });
  principal.change(change);
  await em.flush();
  if (change.enabled === false) await notePrincipalEnd(em, id);
}

/** Deletes an account, with its keys and memberships. The audit keeps its id. */
export async function deleteAccount(em: Em, caller: Principal, account: AccountTarget): Promise<void> {
  refuseOnItself(caller, account);
  await refuseLastAdministrator(em, account);
  await cascadeDeletion(em, 'service_account', account.id);
  await lockAgainstUse(em, account.id);
  await markDeleted(em, 'service_account', account.id);
}

/** Refuses to let a service account change its own authority. @throws Forbidden */
export function refuseOnItself(caller: Principal, account: { readonly id: string }): void {
  if (caller.id !== account.id) return;
  throw new Forbidden(onItself);
}

/** Why a service account may not change itself. */
export const onItself = 'permission denied: a service account cannot change its own authority; ask its owner';
