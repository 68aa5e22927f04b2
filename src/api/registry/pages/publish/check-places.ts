import { list as listEnvironments } from '#api/environments/operations.ts';
import { nameEnvironments } from '#api/tenancy/pages/environment-choices.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { checkPlaceAccess } from '#domain/registry/checks/module-sources.ts';
import { decide } from '#domain/shared/access/decide.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';

/** The environments whose connections the visitor may let a check use: those of the team of the template, or of all teams for a template of the installation. */
export async function readCheckPlaces(visit: Visit, teamId: string | null): Promise<Choices> {
  if (describeClosed('connections', visit.principal.closedFeatures) !== null) return { choices: [], isCut: false };
  const query = { limit: '200', ...(teamId && { team_id: teamId }) };
  const { environments, next_cursor: next } = await visit.read(listEnvironments, { query });
  const usable = environments.filter(
    ({ organization_id: organizationId, team_id: ofTeam }) =>
      decide(visit.principal, checkPlaceAccess, { organizationId, teamId: ofTeam }).allowed,
  );
  return nameEnvironments(visit, usable, usable.length > 0 ? next : null);
}
