import type { Area } from '#api/web/declarations/area.ts';
import * as invitations from './operations.ts';
import * as ofOrganizations from './organization-operations.ts';
import { invitationPages } from './pages/register.ts';
import * as ofTeams from './team-operations.ts';

export const area: Area = {
  operations: [invitations, ofOrganizations, ofTeams],
  tags: {
    organization_invitations: 'Inviting people into an organization.',
    invitations: 'Accepting an invitation.',
    team_invitations: { about: 'Inviting people into a team.', after: 'team_members' },
  },
  pages: [...invitationPages],
};
