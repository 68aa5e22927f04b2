import type { Area } from '#api/web/declarations/area.ts';
import * as ofOrganizations from './organization-operations.ts';
import { memberPages } from './pages/register.ts';
import * as people from './people-operations.ts';
import * as ofTeams from './team-operations.ts';

export const area: Area = {
  operations: [ofOrganizations, ofTeams, people],
  tags: {
    organization_members: 'Who is in an organization, in which role.',
    team_members: { about: 'Who is in a team, in which role.', after: 'teams' },
    people: { about: 'Finding people by name or e-mail address.', after: 'webhooks' },
  },
  pages: [...memberPages],
};
