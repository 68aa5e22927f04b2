import type { Em } from '#database/database.ts';
import type { Member, MemberRoles, MembershipLevel } from '#domain/memberships/model.ts';
import { findMemberPrincipal, type MemberPrincipal } from '#domain/memberships/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { enumerate } from '#domain/shared/ownership-graph/names.ts';
import { hasOtherOwner } from './owner-store.ts';
import { type MembershipOwners, membershipRules } from './rules.ts';

/** A membership with the facts for the rules about its actions. */
export interface MemberWithFacts<Level extends MembershipLevel> {
  readonly level: Level;
  readonly owner: MembershipOwners[Level];
  readonly member: Member<MemberRoles[Level]>;
  /** Undefined if the principal was deleted meanwhile. */
  readonly principal: MemberPrincipal | undefined;
  readonly isLastOwner: boolean;
  /** The teams of the organization that would have no owner without this member: the first few, for `enumerate`. */
  readonly ownedAlone: readonly string[];
}

type RuleAgainst = Pick<Refusal, 'message'> | null;

export async function withMemberFacts<Level extends MembershipLevel>(
  em: Em,
  level: Level,
  owner: MembershipOwners[Level],
  member: Member<MemberRoles[Level]>,
): Promise<MemberWithFacts<Level>> {
  const [principal, isLast, ownedAlone] = await Promise.all([
    findMemberPrincipal(em, member.userId, false),
    isLastOwner(em, level, owner.id, member),
    membershipRules[level].findOwnedAlone(em, owner, member),
  ]);
  return { level, owner, member, principal, isLastOwner: isLast, ownedAlone };
}

/** Service accounts do not count as owners. */
export async function isLastOwner(
  em: Em,
  level: MembershipLevel,
  ownerId: string,
  { type, userId, role }: Member<string>,
): Promise<boolean> {
  return type === 'user' && role === 'owner' && !(await hasOtherOwner(em, level, ownerId, userId));
}

export function lastOwnerRefusal(level: MembershipLevel): Refusal {
  return {
    code: 'last_owner',
    message: `this is the last owner of the ${level}: make another member an owner first`,
  };
}

/** The refusal to end the membership of the only owner of teams; null if there are none. */
export function findOwnedAloneRefusal(teams: readonly string[]): Refusal | null {
  if (teams.length === 0) return null;
  return {
    code: 'last_owner',
    message: `this is the last owner of these teams: ${enumerate([...teams])}; make another member their owner first`,
  };
}

/** Why a caller who manages members cannot change the role of this member; null if they can. */
export function findRoleChangeRefusal<Level extends MembershipLevel>(
  { level, owner, member, principal, isLastOwner: isLast }: MemberWithFacts<Level>,
  caller: Principal,
): RuleAgainst {
  const rules = membershipRules[level];
  const message = rules.findRolesAboveOwn(caller, owner, [member.role]);
  if (message !== null) return { message };
  const others = rules.roles.filter((role) => role !== member.role);
  const unfit = principal ? others.map((role) => rules.findAccountRefusal(principal, role)) : [];
  const findUnfit = () => (unfit.includes(null) ? null : (unfit[0] ?? null));
  return findArchivedRefusal(owner) ?? findUnfit() ?? (isLast ? lastOwnerRefusal(level) : null);
}

/** Why a caller cannot end this membership, which may be their own; null if they can. */
export function findRemovalRefusal<Level extends MembershipLevel>(
  { level, owner, member, isLastOwner: isLast, ownedAlone }: MemberWithFacts<Level>,
  caller: Principal,
): RuleAgainst {
  const isOwn = caller.id === member.userId;
  const message = isOwn ? null : membershipRules[level].findRolesAboveOwn(caller, owner, [member.role]);
  if (message !== null) return { message };
  return (isLast ? lastOwnerRefusal(level) : null) ?? findOwnedAloneRefusal(ownedAlone);
}
