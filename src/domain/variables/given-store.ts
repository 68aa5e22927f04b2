import { type Expression, sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import type { VariablePhase } from './model.ts';

const phases = sql<
  VariablePhase[]
>`array_remove(array[case when v.in_plan then 'plan' end, case when v.in_apply then 'apply' end], null)`;

/**
 * How near to an environment a set's variables are; the nearest wins. A set that is attached to the environment is nearer than one that is
 * attached to its project, and of those the project's own set is nearer than its team's, and that than the organization's.
 */
const nearness = sql<number>`case when a.environment_id is null then 0 else 3 end +
  case when s.project_id is not null then 2 when s.team_id is not null then 1 else 0 end`;

/** The environment's own variables are nearer than any set's. */
const nearest = sql<number>`6`;

/**
 * All variables that an environment gives its runs, sealed ones included: its own, and those of the sets that are attached to it or to its
 * project. The farthest come first, so that a later one of the same name and category takes precedence; of two equally near sets, the one whose
 * name comes first in the alphabet wins. A set counts only while its owner is the environment's project, team or organization, which a transfer may change.
 */
export const readGivenVariables = prepare((db, parameter: ParameterOf<{ environmentId: string }>) => {
  const columns = (holder: {
    kind: 'environment' | 'variable_set';
    id: Expression<string>;
    name: Expression<string>;
  }) =>
    [
      sql<'environment' | 'variable_set'>`${sql.lit(holder.kind)}`.as('holderKind'),
      sql<string>`${holder.id}`.as('holderId'),
      sql<string>`${holder.name}`.as('holderName'),
    ] as const;
  const values = ['v.name', 'v.category', 'v.sensitive', 'v.value', 'v.sealed_value as sealedValue'] as const;
  const more = ['v.plan_value as planValue', 'v.sealed_plan_value as sealedPlanValue', 'v.revision'] as const;
  const own = db
    .selectFrom('environment_variables as v')
    .innerJoin('environments as e', 'e.id', 'v.environment_id')
    .where('v.environment_id', '=', parameter('environmentId'))
    .select([...values, ...more, phases.as('phases'), nearest.as('nearness')])
    .select((eb) => columns({ kind: 'environment', id: eb.ref('e.id'), name: eb.ref('e.name') }));
  const ofSets = db
    .selectFrom('environments as e')
    .innerJoin('projects as p', 'p.id', 'e.project_id')
    .innerJoin('teams as t', 't.id', 'p.team_id')
    .innerJoin('variable_set_attachments as a', (join) =>
      join.on((eb) => eb.or([eb('a.environment_id', '=', eb.ref('e.id')), eb('a.project_id', '=', eb.ref('p.id'))])),
    )
    .innerJoin('variable_sets as s', (join) =>
      join
        .onRef('s.id', '=', 'a.variable_set_id')
        .on((eb) =>
          eb.or([
            eb('s.organization_id', '=', eb.ref('t.organization_id')),
            eb.and([eb('s.team_id', '=', eb.ref('t.id')), eb('s.project_id', 'is', null)]),
            eb('s.project_id', '=', eb.ref('p.id')),
          ]),
        ),
    )
    .innerJoin('variable_set_variables as v', 'v.variable_set_id', 's.id')
    .where('e.id', '=', parameter('environmentId'))
    .select([...values, ...more, phases.as('phases'), nearness.as('nearness')])
    .select((eb) => columns({ kind: 'variable_set', id: eb.ref('s.id'), name: eb.ref('s.name') }));
  return db
    .selectFrom(own.unionAll(ofSets).as('given'))
    .selectAll()
    .orderBy('nearness')
    .orderBy(sql`"holderName" collate "C" desc`)
    .orderBy('holderId')
    .orderBy(sql`"name" collate "C"`);
});
