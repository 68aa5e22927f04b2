import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { OwnerIds } from '#domain/owners/owner.ts';
import { isInForce } from '#domain/variables/attachment-force.ts';
import { nameOrder, nearness } from '#domain/variables/environment-values-store.ts';

/** A set that gives its variables to an environment, or to all environments of a project. */
export interface GivingSet extends OwnerIds {
  readonly id: string;
  readonly name: string;
  /** Where it is attached; `environment` if it is attached to both. */
  readonly attachedTo: 'environment' | 'project';
  readonly variables: number;
}

/** The effective attachments `a` with their set `s`, its number of variables, and the project `p`. */
function selectAttachedSets(em: Em) {
  return db(em)
    .selectFrom('variable_set_attachments as a')
    .innerJoin('variable_sets as s', 's.id', 'a.variableSetId')
    .leftJoin('environments as e', 'e.id', 'a.environmentId')
    .innerJoin('projects as p', (join) =>
      join.on((eb) => eb('p.id', '=', eb.fn.coalesce('a.projectId', 'e.projectId'))),
    )
    .innerJoin('teams as t', 't.id', 'p.teamId')
    .where(isInForce)
    .select(['s.id', 's.name', 'a.environmentId'])
    .select(['s.organizationId', 's.teamId', 's.projectId'])
    .select((eb) =>
      eb
        .selectFrom('variable_set_variables as v')
        .whereRef('v.variableSetId', '=', 's.id')
        .select(({ fn }) => fn.countAll<string>().as('count'))
        .$asScalar()
        .$notNull()
        .as('variables'),
    );
}

/**
 * The sets that are attached to a project, or to an environment or its project. The set whose variables win comes first. This does not
 * check access: pass only a place that the caller may read.
 * @param most how many attachments to read
 */
export async function readGivingSets(
  em: Em,
  place: { readonly environmentId: string } | { readonly projectId: string },
  max: number,
): Promise<GivingSet[]> {
  const rows = await selectAttachedSets(em)
    .where((eb) => {
      if ('projectId' in place) return eb('a.projectId', '=', place.projectId);
      const ofProject = eb.selectFrom('environments as own').where('own.id', '=', place.environmentId);
      return eb.or([
        eb('a.environmentId', '=', place.environmentId),
        eb('a.projectId', '=', ofProject.select('own.projectId')),
      ]);
    })
    .orderBy(nearness, 'desc')
    .orderBy(nameOrder('s.name'))
    .orderBy('s.id', 'desc')
    .limit(max)
    .execute();
  // If a set is attached twice, the nearer attachment counts.
  const nearest = rows.filter(({ id }, index) => rows.findIndex((row) => row.id === id) === index);
  return nearest.map(({ environmentId, variables, ...set }) => ({
    ...set,
    variables: Number(variables),
    attachedTo: environmentId === null ? 'project' : 'environment',
  }));
}
