import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { knowsUser, unknownPrincipal } from '#domain/memberships/acquaintance.ts';
import { lockAgainstUse } from '#domain/shared/access/authority-lock.ts';
import { type Access, decide } from '#domain/shared/access/decide.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { Conflict, Forbidden, HiddenResource } from '#domain/shared/errors.ts';
import { countChange, endOnTransfer } from '#domain/shared/ownership-graph/deletion.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import { isRoleAbove } from '#domain/shared/vocabulary/roles.ts';
import { refuseOnItself } from './changes.ts';
import { ServiceAccount } from './entity.ts';
import type { OwnerTarget } from './owners.ts';
import { type AccountTarget, findAccount } from './store.ts';

const ownerAccess: Access = {
  anyOf: ['service_account:manage'],
  scope: 'service_account',
  hidden: 'not_found',
  review: 'none',
};

export interface Transferred {
  readonly updated: AccountTarget;
  readonly keysRevoked: number;
  readonly membershipsEnded: number;
}

/**
 * Gives an account to another owner. It keeps its name, role, enabled state and history. Its keys are revoked, because otherwise their
 * holders could still act while another user answers for the account. Its memberships end, because they were granted to an account of the
 * earlier owner. The caller has locked the rows of both.
 * @throws HiddenResource, Forbidden or Conflict if the new owner cannot own it
 */
export async function transferAccount(
  em: Em,
  caller: Principal,
  account: AccountTarget,
  owner: OwnerTarget,
  { expectedRevision }: { readonly expectedRevision: number | undefined },
): Promise<Transferred> {
  refuseOnItself(caller, account);
  if (!owner.user) refuseTeam(caller, owner);
  else if (!(await knowsUser(em, caller, owner.ownerUserId ?? ''))) throw unknownPrincipal();
  refuseStale(account, expectedRevision);
  refuseAsOwner(account, owner);
  const ended = await endOnTransfer(em, 'service_account', account.id);
  await lockAgainstUse(em, account.id);
  const { ownerUserId, teamId: ownerTeamId } = owner;
  Object.assign(await readForChange(em, ServiceAccount, { id: account.id }), { ownerUserId, ownerTeamId });
  await em.flush();
  await countChange(em, 'service_account', account.id);
  const { api_key: keysRevoked = 0, organization_member: organizations = 0, team_member: teams = 0 } = ended;
  const updated = await readBack(findAccount(em, account.id));
  return { updated, keysRevoked, membershipsEnded: organizations + teams };
}

function refuseAsOwner(account: AccountTarget, owner: OwnerTarget): void {
  if (owner.ownerUserId === account.ownerUserId && owner.teamId === account.teamId)
    throw new Conflict('owner: this is already the owner of the service account', 'same_owner');
  if (owner.user) refuseUser(account, owner.user);
  else refuseArchived(owner);
}

/** Refuses a caller who is not an owner of the new team. */
function refuseTeam(caller: Principal, owner: OwnerTarget): void {
  const decision = decide(caller, ownerAccess, owner);
  if (!decision.allowed && decision.because === 'hidden') throw new HiddenResource('the new owner team');
  if (!decision.allowed) throw new Forbidden('owner: this needs the role owner in the new owner team');
}

/** Refuses a new owner who is disabled or may not manage the account. */
function refuseUser({ role }: AccountTarget, user: NonNullable<OwnerTarget['user']>): void {
  if (!user.enabled)
    throw new Conflict('owner: the user is disabled: enable them, or choose another owner', 'user_disabled');
  if (isRoleAbove(role, user.role) || !rolePermissions[user.role].has('service_account:manage')) {
    throw new Conflict(
      `owner: a user with the role ${user.role} may not manage a service account with the role ${role}: lower its role first, or choose another owner`,
      'owner_role_too_weak',
    );
  }
}
