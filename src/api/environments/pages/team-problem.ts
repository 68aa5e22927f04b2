import { get as getAssembly } from '#api/assemblies/operations.ts';
import { get as getTemplate } from '#api/registry/template-operations.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { canRunIn } from '#domain/environments/model.ts';
import { isId } from '#domain/shared/ids.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { get as getEnvironment } from '../operations.ts';

interface Placed {
  readonly template: string | undefined;
  readonly assembly?: string | undefined;
  readonly environment: string | undefined;
  /** The name of the field of the environment. */
  readonly field: string;
}

/**
 * Adds a problem to the environment's field if the template or assembly belongs to another team. If one of them does not exist, the
 * operation reports it.
 */
export async function addTeamProblem(visit: Visit, placed: Placed): Promise<void> {
  const { template = '', assembly = '', environment = '', field } = placed;
  if (!isId(environment)) return;
  const params = { id: environment };
  const [place, thing] = await Promise.all([
    orNull(visit.read(getEnvironment, { params })),
    isId(template)
      ? orNull(visit.read(getTemplate, { params: { id: template } }))
      : isId(assembly)
        ? orNull(visit.read(getAssembly, { params: { id: assembly } }))
        : null,
  ]);
  const team = thing?.team_id ?? null;
  if (!place || team === null || canRunIn(team, place.team_id)) return;
  const name = (await readNames(visit.em, { teams: [team] })).get(team)?.name;
  const noun = isId(template) ? 'template' : 'assembly';
  const remedy = name === undefined ? 'its team' : `the team ${name}`;
  visit.addProblem(field, `belongs to another team than the ${noun}: choose an environment of ${remedy}`);
}
