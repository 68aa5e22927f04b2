import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import { PrincipalRecord } from '#domain/identity/entity.ts';
import type { PlatformRole } from '#domain/identity/model.ts';
import { refuseLastAdministrator } from '#domain/identity/users/administrators.ts';
import { refuseRoleAboveOwn } from '#domain/identity/users/user-changes.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { lockAgainstUse } from '#domain/shared/access/store.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { endBelongings, leaveTombstone } from '#domain/shared/ownership-graph/deletion.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import { refuseArchived } from '#domain/tenancy/archiving.ts';
import { refuseBeyondOwn } from './authority.ts';
import { ServiceAccount } from './entity.ts';
import { type CreateServiceAccount, teamRoleOfAccount, type UpdateServiceAccount } from './model.ts';
import type { OwnerTarget } from './owners.ts';
import { type AccountTarget, findAccount } from './targets.ts';

/** Makes a service account for an owner whom the caller may do that for. @throws Forbidden for a role above their own */
export async function createAccount(
  em: Em,
  caller: Principal,
  owner: OwnerTarget,
  { name, role }: z.output<typeof CreateServiceAccount>,
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
 * Changes name and role of an account, whose row the caller of this function holds. With its role changes what it is in
 * the teams that it is in.
 * @throws Conflict for a stale revision, or where no administrator would be left; Forbidden for more than one's own
 */
export async function updateAccount(
  em: Em,
  caller: Principal,
  account: AccountTarget,
  { expected_revision: expected, ...wanted }: z.output<typeof UpdateServiceAccount>,
): Promise<{ updated: AccountTarget; difference: Difference<Fields> }> {
  const difference = findDifference<Fields>({ name: account.name, role: account.role }, wanted);
  const { role } = difference.after;
  if (role !== undefined) await refuseRole(em, caller, account, role);
  refuseArchived(account);
  refuseStale(account, expected);
  if (difference.isEmpty) return { updated: account, difference };
  if (role !== undefined) await changeRole(em, account, role);
  const revision = account.revision + 1;
  await em.nativeUpdate(PrincipalRecord, { id: account.id }, { ...difference.after, revision });
  return { updated: await readBack(findAccount(em, account.id)), difference };
}

async function refuseRole(em: Em, caller: Principal, account: AccountTarget, role: PlatformRole): Promise<void> {
  refuseOnItself(caller, account);
  await refuseBeyondOwn(em, caller, account, role);
}

async function changeRole(em: Em, account: AccountTarget, role: PlatformRole): Promise<void> {
  await refuseLastAdministrator(em, account);
  await em.execute('update team_members set role = ? where principal_id = ?', [teamRoleOfAccount[role], account.id]);
}

/** Lets an account act again, or no more; false where it is so already. What was granted to it before never revives. */
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
  const { revision, eligibilityGeneration } = account;
  const change = { enabled, ...(!enabled && { eligibilityGeneration: eligibilityGeneration + 1 }) };
  await em.nativeUpdate(PrincipalRecord, { id: account.id }, { ...change, revision: revision + 1 });
  return true;
}

/** Ends an account, its keys and its memberships; history keeps its id. Its owner stays as it is. */
export async function deleteAccount(em: Em, caller: Principal, account: AccountTarget): Promise<void> {
  refuseOnItself(caller, account);
  await refuseLastAdministrator(em, account);
  await endBelongings(em, 'service_account', account.id);
  await lockAgainstUse(em, account.id);
  await leaveTombstone(em, 'service_account', account.id);
}

/** As with users: what one may do is for others to change. @throws Forbidden */
export function refuseOnItself(caller: Principal, account: { readonly id: string }): void {
  if (caller.id !== account.id) return;
  throw new Forbidden('permission denied: no service account changes what it may do itself; ask an owner of it');
}
