import { Id } from '#domain/shared/ids.ts';

/** The owners by which lists of monitors and findings are filtered: the query parameter for each level. */
export const ownerParameters = {
  organization_id: Id.optional().describe("Those of the organization's teams that you may read."),
  team_id: Id.optional(),
  environment_id: Id.optional().describe('Those of the environment and of its instances.'),
  instance_id: Id.optional(),
};

export const ownerLevels = {
  organization: 'organization_id',
  team: 'team_id',
  environment: 'environment_id',
  instance: 'instance_id',
} as const;

interface OwnerQuery {
  readonly organization_id?: string | undefined;
  readonly team_id?: string | undefined;
  readonly environment_id?: string | undefined;
  readonly instance_id?: string | undefined;
}

export function toOwnerFilter(query: OwnerQuery) {
  const { organization_id: organizationId, team_id: teamId } = query;
  const { environment_id: environmentId, instance_id: instanceId } = query;
  return { organizationId, teamId, environmentId, instanceId };
}
