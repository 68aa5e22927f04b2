import { list as listOrganizations } from '#api/organizations/operations.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { readChosenId } from '#api/web/forms/resource-forms.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { readTeamChoices } from './team-choices.ts';

/** Shared by all fields in which a visitor chooses an owner by name. */

export interface OwnerChoices {
  readonly organizations: readonly Choice[];
  readonly teams: readonly Choice[];
  /** There are more owners that the visitor may see. */
  readonly isCut: boolean;
}

/** The organizations and teams that the visitor sees. */
export async function readOwnerChoices(visit: Visit): Promise<OwnerChoices> {
  const [{ organizations, next_cursor: next }, teams] = await Promise.all([
    visit.read(listOrganizations, { query: { limit: '200' } }),
    readTeamChoices(visit),
  ]);
  return {
    organizations: organizations.map(({ id, name }) => ({ value: id, label: `Organization ${name}` })),
    teams: teams.choices.map(({ value, label }) => ({ value, label: `Team ${label}` })),
    isCut: teams.isCut || next !== null,
  };
}

/**
 * The owner that was chosen: of one of these kinds, or an organization. An unknown id counts as that of an organization, because the
 * operation answers alike for an id that does not exist and for a hidden one. If nothing was chosen, returns null and adds a problem to the
 * visit.
 */
export async function findChosenOwner<Kind extends 'teams' | 'projects' | 'environments'>(
  visit: Visit,
  { owner = '' }: Typed,
  kinds: readonly Kind[],
): Promise<{ readonly kind: Kind | 'organizations'; readonly id: string } | null> {
  const id = readChosenId(visit, 'owner', owner);
  if (id === null) return null;
  const named = await Promise.all(kinds.map((kind) => readNames(visit.em, { [kind]: [id] })));
  return { kind: kinds.find((_kind, index) => named[index]?.has(id)) ?? 'organizations', id };
}
