import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import type { Em } from '#database/database.ts';
import {
  findRemovalRefusal,
  findRoleChangeRefusal,
  type MemberWithFacts,
  withMemberFacts,
} from '#domain/members/actions.ts';
import type { MembershipOwners } from '#domain/members/rules.ts';
import type { Member, MemberRoles, MembershipLevel } from '#domain/memberships/model.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';

type MemberTarget = MemberWithFacts<MembershipLevel> & Ownership;

const actionsAt = (level: MembershipLevel) =>
  actionsOf<MemberTarget>()({
    change_role: { operation: `${level}_members.set`, findRefusal: findRoleChangeRefusal },
    remove: {
      operation: `${level}_members.remove`,
      params: ({ member }) => ({ userID: member.userId }),
      findRefusal: findRemovalRefusal,
    },
  });

/** What a caller may do with a membership. Users may always leave. */
const memberActions = { organization: actionsAt('organization'), team: actionsAt('team') };

/** The schema of the actions, which is the same at both levels. */
export const MemberActionsView = memberActions.organization.view;

/** Describes what the caller may do with one membership. */
export async function describeMemberActions<Level extends MembershipLevel>(
  em: Em,
  context: ActionContext,
  level: Level,
  owner: MembershipOwners[Level],
  member: Member<MemberRoles[Level]>,
) {
  const facts = await withMemberFacts<MembershipLevel>(em, level, owner, member);
  const { organizationId, teamId } = owner;
  return memberActions[level].describe(context, { ...facts, organizationId, teamId });
}
