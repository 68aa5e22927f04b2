import { p } from '@mikro-orm/core';
import { Organization } from '#domain/organizations/entity.ts';
import { Project } from '#domain/projects/entity.ts';
import { Team } from '#domain/teams/entity.ts';

/**
 * The owner of a row that the installation, an organization, a team or a project may own: no column is set, or only `organizationId`, or
 * only `teamId`, or `projectId` with the `teamId` of its team. A migration adds the columns with `ownerConstraint`.
 */
export const ownerColumns = {
  organizationId: () =>
    p.manyToOne(Organization).mapToPk().fieldName('organization_id').deleteRule('restrict').nullable(),
  teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict').nullable(),
  projectId: () => p.manyToOne(Project).mapToPk().fieldName('project_id').deleteRule('restrict').nullable(),
};
