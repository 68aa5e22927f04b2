import type { Em } from '#database/database.ts';
import { knowsUser, unknownPrincipal } from '#domain/memberships/acquaintance.ts';
import { addMember, changeRole, demoteOwner, findMember } from '#domain/memberships/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { countChange } from '#domain/shared/ownership-graph/deletion.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import type { RevisionCheck } from '#domain/tenancy/model.ts';
import { findOrganization, findUsers, type OrganizationTarget, type TransferRecipient } from './store.ts';

export interface OrganizationTransfer extends OrganizationTarget {
  /** Undefined: there is no such user. */
  readonly newOwner: TransferRecipient | undefined;
}

/** The organization and its new owner. The authority of both people changes, so both are locked before the organization. */
export async function findOrganizationTransfer(
  em: Em,
  { organization, from, to }: { organization: string; from: string; to: string | undefined },
  lock: boolean,
): Promise<OrganizationTransfer | undefined> {
  const people = await findUsers(em, to === undefined ? [from] : [from, to], lock);
  const found = await findOrganization(em, organization, lock && 'change');
  return found && { ...found, newOwner: people.find(({ id }) => id === to) };
}

/**
 * Transfers an organization: the new owner joins it if necessary, and a caller who is an owner becomes an admin. Other owners keep their
 * role. Voids invitations sent before the transfer.
 * @throws Forbidden if there is no such user, or the caller does not know them
 * @throws Conflict for a disabled user, a user who is an owner already, something archived, or a stale revision
 */
export async function transferOrganization(
  em: Em,
  caller: Principal,
  organization: OrganizationTransfer,
  { expectedRevision }: RevisionCheck,
): Promise<OrganizationTarget> {
  const { id, newOwner } = organization;
  if (!newOwner) throw unknownPrincipal();
  const before = await findMember(em, 'organization', id, newOwner.id);
  if (!before && !(await knowsUser(em, caller, newOwner.id))) throw unknownPrincipal();
  refuseArchived(organization);
  refuseStale(organization, expectedRevision);
  if (!newOwner.enabled)
    throw new Conflict('new_owner_user_id: this user is disabled: enable them, or choose another', 'user_disabled');
  if (before?.role === 'owner') throw new Conflict('new_owner_user_id: this user is an owner already', 'same_owner');
  if (before) await changeRole(em, 'organization', before.id, 'owner');
  else await addMember(em, 'organization', { ownerId: id, principalId: newOwner.id, role: 'owner' });
  await demoteOwner(em, id, caller.id);
  await countChange(em, 'organization', id);
  return readBack(findOrganization(em, id));
}
