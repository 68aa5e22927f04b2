import type { Operation } from '#api/pipeline/operation.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { readNames } from '#domain/tenancy/names.ts';

/** Forms that create something offer only owners for which the operation would accept the request. */

/** Filters things to those whose teams let the visitor invoke the operation. A thing without a team belongs to the installation. */
export async function keepAllowed<Thing extends { readonly team_id: string | null }>(
  visit: Visit<unknown>,
  operation: Pick<Operation, 'id'>,
  things: readonly Thing[],
): Promise<Thing[]> {
  const isAllowed = await readTeamDecision(
    visit,
    (owner) => visit.mayDo(operation, owner).allowed,
    things.map(({ team_id: id }) => id),
  );
  return things.filter(({ team_id: id }) => isAllowed(id));
}

/** Filters teams to those for which the visitor may invoke the operation. */
export async function keepAllowedTeams(
  visit: Visit<unknown>,
  operation: Pick<Operation, 'id'>,
  teams: Choices,
): Promise<Choices> {
  return keepTeams(visit, teams, (owner) => visit.mayDo(operation, owner).allowed);
}

/** Filters teams by a rule. */
export async function keepTeams(
  visit: Visit<unknown>,
  teams: Choices,
  accepts: (owner: Ownership) => boolean,
): Promise<Choices> {
  const isAllowed = await readTeamDecision(
    visit,
    accepts,
    teams.choices.map(({ value }) => value),
  );
  return { ...teams, choices: teams.choices.filter(({ value }) => isAllowed(value)) };
}

async function readTeamDecision(
  visit: Visit<unknown>,
  accepts: (owner: Ownership) => boolean,
  teamIds: readonly (string | null)[],
): Promise<(teamId: string | null) => boolean> {
  const names = await readNames(visit.em, { teams: teamIds });
  const ids = [...new Set(teamIds)];
  const owners = ids.map((teamId) => ({ teamId, organizationId: names.get(teamId ?? '')?.organizationId ?? null }));
  const allowed = owners.filter(accepts);
  const kept = new Set(allowed.map(({ teamId }) => teamId));
  return (teamId) => kept.has(teamId);
}
