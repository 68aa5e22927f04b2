import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';

const installation = 'Installation';

/** Returns the owner of a template in words: "Core · Acme", or the installation. */
export type NameOwner = (teamId: string | null) => string;

/** Reads the names of the teams that own templates, and of their organizations. */
export async function readOwners(visit: Visit, teamIds: readonly (string | null)[]): Promise<NameOwner> {
  if (teamIds.every((id) => id === null)) return () => installation;
  const teams = await readNames(visit.em, { teams: teamIds });
  const organizations = await readNames(visit.em, {
    organizations: [...teams.values()].map(({ organizationId }) => organizationId),
  });
  return (teamId) => {
    if (teamId === null) return installation;
    const team = teams.get(teamId);
    const organization = organizations.get(team?.organizationId ?? '');
    return [team?.name ?? 'Unknown team', organization?.name].filter(Boolean).join(' · ');
  };
}
