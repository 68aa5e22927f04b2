import { z } from 'zod';
import { accessReview, readAccess, TeamParams, teamOf, teamToChange } from '#api/teams/operations.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';
import { teamRoles } from '#domain/teams/model.ts';
import { memberOperations } from './member-operations.ts';
import { TeamMemberView } from './views.ts';

/** Changes that concern an owner need the right to manage owners as well, which the domain checks. */
const manageAccess: Access = {
  anyOf: ['team:write'],
  scope: 'team',
  teamAction: 'team.membership.manage',
  hidden: 'not_found',
  review: { ...accessReview, verb: 'manage_members' },
};

const SetTeamMember = z.strictObject({ role: z.enum(teamRoles) }).meta({ id: 'SetTeamMember' });

export const { list, set, remove } = memberOperations({
  level: 'team',
  path: '/api/v1/organizations/:orgID/teams/:id/members',
  ownerParams: TeamParams,
  memberParams: TeamParams.extend({ userID: Id }),
  body: SetTeamMember,
  view: TeamMemberView,
  summaries: {
    list: 'List the members of a team',
    set: "Add a member of the organization to a team, or change a member's role",
    remove: 'End a membership of a team',
  },
  access: {
    list: { ...readAccess, review: { inherits: 'teams.get' } },
    set: manageAccess,
    remove: { ...manageAccess, review: { inherits: 'team_members.set' } },
  },
  find: teamOf,
  findToChange: teamToChange,
});
