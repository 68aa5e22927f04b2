import { list as listOrganizations } from '#api/organizations/operations.ts';
import { list as listTeams } from '#api/teams/operations.ts';
import type { Choices } from '#api/web/forms/fields/choices.ts';
import type { Visit } from '#api/web/visit/visit.ts';

/**
 * The maximum number of organizations, because each takes a query. If there are more, the field says so, and accepts the id of another
 * team.
 */
const maxOrganizations = 20;

/** The teams that the visitor may see, each with the name of its organization. Operations check whether the visitor may use one. */
export async function readTeamChoices(visit: Visit): Promise<Choices> {
  const { organizations, next_cursor: next } = await visit.read(listOrganizations, {
    query: { limit: String(maxOrganizations) },
  });
  const pages = await Promise.all(
    organizations.map(async ({ id: orgID, name: organization }) => {
      const page = await visit.read(listTeams, { params: { orgID }, query: { limit: '200' } });
      const choices = page.teams.map(({ id, name }) => ({ value: id, label: `${organization} / ${name}` }));
      return { choices, isCut: page.next_cursor !== null };
    }),
  );
  return {
    choices: pages.flatMap(({ choices }) => choices),
    choiceKinds: ['team'],
    isCut: next !== null || pages.some(({ isCut }) => isCut),
  };
}
