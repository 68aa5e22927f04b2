import { list as listOrganizations } from '#api/organizations/operations.ts';
import { list as listTeams } from '#api/teams/operations.ts';
import type { Choice } from '#api/web/forms/form.ts';
import type { Visit } from '#api/web/visit/visit.ts';

/** More would make a choice unusable; then the page of the team leads to the form. */
const mostOrganizations = 20;

/** The teams that the visitor sees, each named with its organization. Operations decide whether the visitor may use one. */
export async function readTeamChoices(visit: Visit): Promise<Choice[]> {
  const { organizations } = await visit.read(listOrganizations, { query: { limit: String(mostOrganizations) } });
  const teams = await Promise.all(
    organizations.map(async ({ id: orgID, name: organization }) => {
      const page = await visit.read(listTeams, { params: { orgID }, query: { limit: '200' } });
      return page.teams.map(({ id, name }) => ({ value: id, label: `${organization} / ${name}` }));
    }),
  );
  return teams.flat();
}
