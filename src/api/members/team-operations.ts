import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { readAccess, reviewed, TeamParams, teamOf } from '#api/teams/operations.ts';
import { TeamMemberView, viewMember } from '#api/tenancy/views.ts';
import type { Em } from '#database/database.ts';
import { toChange } from '#database/row-lock.ts';
import { listMembers, lockMember, membershipLocks, teamMembers } from '#domain/members/members.ts';
import type { MemberChange } from '#domain/members/organization-members.ts';
import { OutsideOrganization, removeTeamMember, setTeamMember } from '#domain/members/team-members.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging.ts';
import { type TeamRole, teamRoles } from '#domain/teams/model.ts';

const MemberParams = TeamParams.extend({ userID: Id });

/** Owners are managed by whoever may do that; the handler asks for it where an owner is concerned. */
const manageAccess: Access = {
  anyOf: ['team:write'],
  scope: 'team',
  teamAction: 'team.membership.manage',
  hidden: 'not_found',
  review: { ...reviewed, verb: 'manage_members' },
};

/** Whoever's authority is to change is locked first, then the team, so that its owners change one at a time. */
async function findForMember(em: Em, { userID, ...team }: z.output<typeof MemberParams>, lock: boolean) {
  const joiner = await lockMember(em, userID, toChange(lock));
  const found = await teamOf(em, team, toChange(lock));
  return found && { ...found, joiner: joiner && { ...joiner, id: userID } };
}

export const list = read({
  id: 'team_members.list',
  route: 'GET /api/v1/organizations/:orgID/teams/:id/members',
  summary: 'List the members of a team',
  params: TeamParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('members', TeamMemberView) },
  access: { ...readAccess, review: { inherits: 'teams.get' } },
  target: ({ em, params }) => teamOf(em, params),
  targetName: 'team',
  handle: async ({ em, target, query }) => {
    const page = await listMembers<TeamRole>(em, teamMembers, target.id, query);
    return { members: page.items.map(viewMember), next_cursor: page.nextCursor };
  },
});

export const set = command({
  id: 'team_members.set',
  route: 'PUT /api/v1/organizations/:orgID/teams/:id/members/:userID',
  summary: "Let a member of the organization join a team, or change a member's role",
  params: MemberParams,
  body: z.strictObject({ role: z.enum(teamRoles) }),
  responses: { 200: TeamMemberView },
  access: manageAccess,
  target: ({ em, params, lock }) => findForMember(em, params, lock),
  targetName: 'team',
  idempotency: 'none',
  locks: membershipLocks,
  audit: 'team_member.set',
  handle: async ({ tx, principal, target, params, body }) => {
    if (!target.joiner) throw new OutsideOrganization();
    const change = await setTeamMember(tx.em, principal, target, target.joiner, body.role);
    return { ...describe(params.userID, change), answer: viewMember(change.after) };
  },
});

export const remove = command({
  id: 'team_members.remove',
  route: 'DELETE /api/v1/organizations/:orgID/teams/:id/members/:userID',
  summary: 'End a membership of a team',
  params: MemberParams,
  responses: { 204: Nothing },
  access: { ...manageAccess, review: { inherits: 'team_members.set' } },
  target: ({ em, params, lock }) => findForMember(em, params, lock),
  targetName: 'team',
  idempotency: 'none',
  locks: membershipLocks,
  audit: 'team_member.removed',
  handle: async ({ tx, principal, target, params }) => {
    const change = await removeTeamMember(tx.em, principal, target, params.userID);
    return describe(params.userID, change);
  },
});

/** Who was what before and is what now, as history keeps it. */
function describe(userId: string, { before, after }: MemberChange<TeamRole>) {
  const facts = (member: MemberChange<TeamRole>['after']) => member && { role: member.role, membershipId: member.id };
  return { id: userId, before: facts(before), after: facts(after) };
}
