import { type Expression, type Kysely, sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { isInForce } from './attachment-force.ts';
import type { VariablePhase } from './model.ts';

const phases = sql<
  VariablePhase[]
>`array_remove(array[case when v.in_plan then 'plan' end, case when v.in_apply then 'apply' end], null)`;

/**
 * How near the variables of the set `s` are to an environment through the attachment `a`. The nearest variable takes precedence. Sets that
 * are attached to the environment are nearer than sets that are attached to its project. Among either kind, a project's own set is nearest,
 * then its team's, then the organization's.
 */
export const nearness = sql<number>`case when a.environment_id is null then 0 else 3 end +
  case when s.project_id is not null then 2 when s.team_id is not null then 1 else 0 end`;

/** Of two equally near sets, the one whose name comes first in this order takes precedence. */
export const nameOrder = (name: 's.name' | 'holderName') => sql<string>`${sql.ref(name)} collate "C"`;

/** The environment's own variables are nearer than any set's. */
const nearest = sql<number>`6`;

interface OfEnvironment {
  readonly environmentId: string;
}

/** All variables that an environment gives its runs, including sealed ones, in no order. */
function selectGiven(db: Kysely<Tables>, parameter: ParameterOf<OfEnvironment>) {
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
  const values = ['v.name', 'v.category', 'v.sensitive', 'v.value', 'v.sealedValue'] as const;
  const more = ['v.planValue', 'v.sealedPlanValue'] as const;
  const own = db
    .selectFrom('environment_variables as v')
    .innerJoin('environments as e', 'e.id', 'v.environmentId')
    .where('v.environmentId', '=', parameter('environmentId'))
    .select([...values, ...more, phases.as('phases'), nearest.as('nearness')])
    .select((eb) => columns({ kind: 'environment', id: eb.ref('e.id'), name: eb.ref('e.name') }));
  const ofSets = db
    .selectFrom('environments as e')
    .innerJoin('projects as p', 'p.id', 'e.projectId')
    .innerJoin('teams as t', 't.id', 'p.teamId')
    .innerJoin('variable_set_attachments as a', (join) =>
      join.on((eb) => eb.or([eb('a.environmentId', '=', eb.ref('e.id')), eb('a.projectId', '=', eb.ref('p.id'))])),
    )
    .innerJoin('variable_sets as s', (join) => join.onRef('s.id', '=', 'a.variableSetId').on(isInForce))
    .innerJoin('variable_set_variables as v', 'v.variableSetId', 's.id')
    .where('e.id', '=', parameter('environmentId'))
    .select([...values, ...more, phases.as('phases'), nearness.as('nearness')])
    .select((eb) => columns({ kind: 'variable_set', id: eb.ref('s.id'), name: eb.ref('s.name') }));
  return own.unionAll(ofSets);
}

/**
 * All variables that an environment gives its runs, including sealed ones: its own, and those of the sets that are attached to it or to its
 * project. The farthest come first, so that a later one of the same name and category takes precedence. Of two equally near sets, the one
 * whose name comes first in the alphabet takes precedence.
 */
export const readGivenVariables = prepare((db, parameter: ParameterOf<OfEnvironment>) =>
  db
    .selectFrom(selectGiven(db, parameter).as('given'))
    .select(['name', 'category', 'sensitive', 'value', 'sealedValue', 'planValue', 'sealedPlanValue', 'phases'])
    .select(['nearness', 'holderKind', 'holderId', 'holderName'])
    .orderBy('nearness')
    .orderBy(nameOrder('holderName'), 'desc')
    .orderBy('holderId')
    .orderBy(sql`"name" collate "C"`),
);

/** The names of the same variables in the same order, each with its source and whether it has a value for planning. */
export const readGivenNames = prepare((db, parameter: ParameterOf<OfEnvironment>) =>
  db
    .selectFrom(selectGiven(db, parameter).as('given'))
    .select(['name', 'category', 'sensitive', 'phases', 'holderKind', 'holderId', 'holderName'])
    .select((eb) =>
      eb
        .or([eb('planValue', 'is not', null), eb('sealedPlanValue', 'is not', null)])
        .$castTo<boolean>()
        .as('hasPlanValue'),
    )
    .orderBy('nearness')
    .orderBy(nameOrder('holderName'), 'desc')
    .orderBy('holderId')
    .orderBy(sql`"name" collate "C"`),
);

/** Those of the same variables that are defaults for variables of templates, in the same order. The value of a secret is null. */
export const readGivenDefaults = prepare((db, parameter: ParameterOf<OfEnvironment>) =>
  db
    .selectFrom(selectGiven(db, parameter).as('given'))
    .where('category', '=', 'template')
    .select(['name', 'sensitive', 'holderKind', 'holderId', 'holderName'])
    .select(sql<JsonValue>`case when "sensitive" then null else "value" end`.as('value'))
    .orderBy('nearness')
    .orderBy(nameOrder('holderName'), 'desc')
    .orderBy('holderId')
    .orderBy(sql`"name" collate "C"`),
);
