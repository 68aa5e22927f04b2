import type { Em } from '#database/database.ts';
import type { Member, MemberRoles, MembershipLevel } from '#domain/memberships/model.ts';
import { addMember, changeRole, findMember, type MemberPrincipal } from '#domain/memberships/store.ts';
import { authorityLock } from '#domain/shared/access/authority-lock.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { Forbidden, NotFound } from '#domain/shared/errors.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import { findOwnedAloneRefusal, isLastOwner, lastOwnerRefusal } from './actions.ts';
import { removeMembership, revokeInvitationsFrom } from './removal-store.ts';
import { type MembershipOwners, membershipRules } from './rules.ts';

/** A membership before and after a change; undefined: not a member. */
export interface MemberChange<Role extends string> {
  readonly before: Member<Role> | undefined;
  readonly after: Member<Role> | undefined;
}

/** A membership before and after a join or a change of role. */
export interface MemberJoined<Role extends string> extends MemberChange<Role> {
  readonly after: Member<Role>;
}

/** The requested role of a member. */
export interface WantedMembership<Role extends string> {
  readonly role: Role;
  /** The change is refused if the membership now has another revision. */
  readonly expectedRevision: number | undefined;
}

/** The membership to end. */
export interface EndedMembership {
  readonly userId: string;
  /** The removal is refused if the membership now has another revision. */
  readonly expectedRevision: number | undefined;
}

/** The advisory locks for a change of somebody's membership. */
export function membershipLocks({ params }: { params: { userID: string } }): string[] {
  return [authorityLock(params.userID)];
}

/**
 * Lets a user or a service account join an organization or a team, or changes the role of a member. Only members of the organization can
 * join a team. Lock both rows first.
 * @throws Forbidden for a joiner whom the caller does not know, or if the caller may not grant or remove one of the roles
 * @throws Conflict if the owner is archived, would be left without an owner, or cannot have such a member; for a stale revision
 */
export async function setMember<Level extends MembershipLevel>(
  em: Em,
  caller: Principal,
  level: Level,
  owner: MembershipOwners[Level],
  joiner: MemberPrincipal | undefined,
  { role, expectedRevision }: WantedMembership<MemberRoles[Level]>,
): Promise<MemberJoined<MemberRoles[Level]>> {
  const rules = membershipRules[level];
  if (!joiner) throw rules.unknownMember();
  const before = await findMember(em, level, owner.id, joiner.id);
  if (!before && !(await rules.mayAdd(em, caller, owner, joiner))) throw rules.unknownMember();
  refuseAboveOwn(rules.findRolesAboveOwn(caller, owner, before ? [before.role, role] : [role]));
  refuseArchived(owner);
  throwIfRefused(rules.findAccountRefusal(joiner, role));
  refuseStale(before ?? { revision: 0 }, expectedRevision);
  if (before?.role === role) return { before, after: before };
  if (before) {
    await refuseLastOwner(em, level, owner.id, before);
    await changeRole(em, level, before.id, role);
  } else {
    await addMember(em, level, { ownerId: owner.id, principalId: joiner.id, role });
  }
  return { before, after: await readBack(findMember(em, level, owner.id, joiner.id)) };
}

/**
 * Ends a membership and revokes the open invitations that the member sent. Leaving an organization ends the memberships of its teams as
 * well.
 * @throws NotFound for somebody who is not a member
 * @throws Forbidden if the caller may not remove the member's role; people may always leave
 * @throws Conflict if the organization or a team would be left without an owner; for a stale revision
 */
export async function removeMember<Level extends MembershipLevel>(
  em: Em,
  caller: Principal,
  level: Level,
  owner: MembershipOwners[Level],
  { userId, expectedRevision }: EndedMembership,
): Promise<MemberChange<MemberRoles[Level]>> {
  const rules = membershipRules[level];
  const before = await findMember(em, level, owner.id, userId);
  if (!before) throw new NotFound('member');
  if (caller.id !== userId) refuseAboveOwn(rules.findRolesAboveOwn(caller, owner, [before.role]));
  refuseStale(before, expectedRevision);
  await refuseLastOwner(em, level, owner.id, before);
  // The caller has locked the organization's row, so that none of its teams changes its owners meanwhile.
  throwIfRefused(findOwnedAloneRefusal(await rules.findOwnedAlone(em, owner, before)));
  await rules.leave(em, owner, before);
  await removeMembership(em, level, { ownerId: owner.id, principalId: userId });
  await revokeInvitationsFrom(em, owner, userId);
  return { before, after: undefined };
}

function refuseAboveOwn(message: string | null): void {
  if (message !== null) throw new Forbidden(message);
}

async function refuseLastOwner(em: Em, level: MembershipLevel, ownerId: string, member: Member<string>): Promise<void> {
  throwIfRefused((await isLastOwner(em, level, ownerId, member)) ? lastOwnerRefusal(level) : null);
}
