import { z } from 'zod';
import { accessReview, readAccess, TeamParams, teamOf, teamToChange } from '#api/teams/operations.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { teamRoles } from '#domain/shared/vocabulary/roles.ts';
import { memberOperations } from './member-operations.ts';
import { TeamMemberDetailsView, TeamMemberView } from './views.ts';

/** Changes of an owner's membership also require the permission to manage owners, which the domain checks. */
const manageAccess: Access = {
  anyOf: ['team:write'],
  scope: 'team',
  teamAction: 'team.membership.manage',
  hidden: 'not_found',
  review: { ...accessReview, verb: 'manage_members' },
};

const SetTeamMember = z.strictObject({ role: z.enum(teamRoles), ...ExpectedRevision }).meta({ id: 'SetTeamMember' });

export const { list, get, set, remove } = memberOperations({
  level: 'team',
  path: '/api/v1/organizations/:orgID/teams/:id/members',
  ownerParams: TeamParams,
  memberParams: TeamParams.extend({ userID: Id }),
  body: SetTeamMember,
  view: TeamMemberView,
  details: TeamMemberDetailsView,
  summaries: {
    list: 'List the members of a team',
    set: "Add a member of the organization to a team, or change a member's role",
    get: 'Read the membership of one member of a team',
    remove: 'End a membership of a team; people may leave by themselves',
  },
  access: {
    list: { ...readAccess, review: { inherits: 'teams.get' } },
    set: manageAccess,
    remove: { ...manageAccess, review: { inherits: 'team_members.set' } },
    leave: { ...readAccess, anyOf: ['profile:manage'], principals: ['user'], review: 'none' },
  },
  find: teamOf,
  findToChange: teamToChange,
});
