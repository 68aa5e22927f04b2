import { get, list } from '#api/environments/operations.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import { type Choice, type Choices, unchosen } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { type NamedThing, nameChoices } from '#api/web/forms/fields/named-things.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isId } from '#domain/shared/ids.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { keepAllowed } from './allowed-owners.ts';

interface NamedEnvironment {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  readonly team_id: string;
}

interface Wanted {
  /** Only environments of this team. */
  readonly teamId?: string | null | undefined;
  /** An environment in the address or of a run. It is among the choices if the visitor may read it, so that the field shows its name. */
  readonly alsoId?: string | null | undefined;
  /** Only environments in whose teams the visitor may invoke the operation. */
  readonly operation?: Pick<Operation, 'id'>;
}

/** The environments that the visitor may read. */
export async function readEnvironmentChoices(
  visit: Visit<unknown>,
  { teamId, alsoId, operation }: Wanted = {},
): Promise<Choices> {
  const query = { limit: '200', ...(teamId && { team_id: teamId }) };
  const { environments, next_cursor: next } = await visit.read(list, { query });
  const isMissing = alsoId && isId(alsoId) && environments.every(({ id }) => id !== alsoId);
  const also = isMissing ? await orNull(visit.read(get, { params: { id: alsoId } })) : null;
  const found = [...environments, ...(also ? [also] : [])];
  return nameEnvironments(visit, operation ? await keepAllowed(visit, operation, found) : found, next);
}

/**
 * The field that chooses the environment of a form. It has no value yet.
 * @param none the choice of no environment, if the form has it. It is the only choice if there are no environments
 */
export function environmentField({ choices, ...cut }: Choices, none?: Choice): FormField {
  const first = none === undefined || choices.length > 0 ? [unchosen] : [];
  return {
    name: 'environment_id',
    label: 'Environment',
    kind: 'select',
    ...cut,
    choices: [...first, ...(none ? [none] : []), ...choices],
  };
}

/** The choice of no environment. It must be explicit, because something outside of any environment may belong to no team. */
export const noneChoice = 'none';

/**
 * A field for an environment or none. The visitor must choose. If there are no environments, "none" is preselected.
 * @param chosen an earlier choice
 */
export function optionalEnvironmentField(environments: Choices, chosen?: string): FormField {
  const field = environmentField(environments, { value: noneChoice, label: 'None: outside any environment' });
  return { ...field, value: chosen || (environments.choices.length > 0 ? '' : noneChoice) };
}

/** Choices of environments, with the name of the project in front, because names repeat in different projects. */
export async function nameEnvironments(
  visit: Visit<unknown>,
  environments: readonly NamedEnvironment[],
  nextCursor: string | null,
): Promise<Choices> {
  const things = await behindProjects(visit, environments);
  const choices = await nameChoices(visit.em, things);
  choices.sort((one, other) => one.label.localeCompare(other.label));
  return { choices, isCut: nextCursor !== null, choiceKinds: ['environment'] };
}

/** Environments, with the names of their projects in front of their own. */
export async function behindProjects(
  visit: Visit<unknown>,
  environments: readonly NamedEnvironment[],
): Promise<NamedThing[]> {
  const names = await readNames(visit.em, { projects: environments.map(({ project_id: project }) => project) });
  return environments.map(({ id, name, project_id: project, team_id }) => ({
    id,
    name: `${names.get(project)?.name ?? 'A project'} / ${name}`,
    team_id,
  }));
}
