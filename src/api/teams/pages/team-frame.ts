import type { z } from 'zod';
import { get as getOrganization } from '#api/organizations/operations.ts';
import { organizationCrumbs } from '#api/organizations/pages/organization-frame.ts';
import type { OrganizationView } from '#api/organizations/views.ts';
import type { Level, LevelPage } from '#api/tenancy/pages/levels/level.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { type LocalPath, type PagePattern, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get, update } from '../operations.ts';
import type { TeamView } from '../views.ts';

/** A team with its organization. */
export interface TeamSubject extends z.input<typeof TeamView> {
  readonly organization: Pick<z.input<typeof OrganizationView>, 'id' | 'name'>;
}

export type TeamVisit = Visit<{ orgID: string; id: string }>;

/**
 * Reads a team with its organization. Members of a team are members of its organization, so a visitor who may read one may read the other.
 */
export async function readTeam(visit: TeamVisit): Promise<TeamSubject> {
  const { orgID, id } = visit.params;
  const [team, organization] = await Promise.all([
    visit.read(get, { params: { orgID, id } }),
    visit.read(getOrganization, { params: { orgID } }),
  ]);
  return { ...team, organization };
}

type TeamIds = Pick<TeamSubject, 'id' | 'organization_id'>;

export function teamParams({ id, organization_id: orgID }: TeamIds) {
  return { orgID, id };
}

export function teamPath(team: TeamIds, done?: ConfirmationOf<typeof pages.team>): LocalPath {
  return pagePath(pages.team, teamParams(team), { done });
}

export function teamCrumbs(team: TeamSubject): Crumb[] {
  return [...organizationCrumbs(team.organization), { label: team.name, path: teamPath(team) }];
}

const paths: Readonly<Record<LevelPage, PagePattern & `/organizations/:orgID/teams/:id${string}`>> = {
  main: pages.team,
  members: pages.teamMembers,
  invitations: pages.teamInvitations,
  settings: pages.editTeam,
  archive: pages.archiveTeam,
  unarchive: pages.unarchiveTeam,
  transfer: pages.transferTeam,
  delete: pages.deleteTeam,
};

/** The parts of the pages that only teams have. */
export const teamLevel: Level<{ orgID: string; id: string }, TeamSubject> = {
  noun: 'team',
  auditType: 'teams',
  confirmations: pages.team,
  read: readTeam,
  parents: ({ organization }) => organizationCrumbs(organization),
  path: (page, team, query) => pagePath(paths[page], teamParams(team), query),
  holds: {
    label: 'Projects',
    action: 'create_project',
    button: ({ id }) => ({
      label: 'New project',
      icon: 'plus',
      tone: 'primary',
      path: pagePath(pages.newProject, {}, { team_id: id }),
    }),
  },
  settings: {
    update: (visit, team, body) => visit.run(update, { params: teamParams(team), body }),
    aboutSlug: 'The name and the slug of the team.',
    aboutTransfer: 'The team moves to another organization, with everything that it owns.',
    aboutDeletion: 'Only a team that owns nothing can be deleted.',
  },
};
