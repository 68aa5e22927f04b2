import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { json } from '#database/tables.ts';
import { db, prepare } from '#domain/db.ts';
import { type Page, type PageRequest, pageByName } from '#domain/shared/paging.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { VariableCategory, VariablePhase } from './variable-model.ts';
import { explainVariableName } from './variable-names.ts';

/** A variable without the value of a sensitive one, which is never shown again. */
export interface ShownVariable {
  readonly name: string;
  readonly category: VariableCategory;
  readonly sensitive: boolean;
  readonly phases: readonly VariablePhase[];
  readonly value: JsonValue;
  /** The value that planning gets in its place; null if there is none, and if it is secret. */
  readonly planValue: JsonValue;
  readonly hasPlanValue: boolean;
  readonly revision: number;
  readonly updatedAt: string;
}

/** The phases in which a variable is given, as an array of PostgreSQL. */
const phases = sql<
  VariablePhase[]
>`array_remove(array[case when in_plan then 'plan' end, case when in_apply then 'apply' end], null)`;

const hasPlanValue = sql<boolean>`(plan_value is not null or sealed_plan_value is not null)`;

function selectVariables(em: Em, environmentId: string) {
  return db(em)
    .selectFrom('environment_variables as v')
    .where('v.environment_id', '=', environmentId)
    .select(['v.name', 'v.category', 'v.sensitive', 'v.revision', 'v.updated_at as updatedAt', phases.as('phases')])
    .select(hasPlanValue.as('hasPlanValue'))
    .select((eb) => [
      sql<JsonValue>`case when ${eb.ref('v.sensitive')} then null else ${eb.ref('v.value')} end`.as('value'),
      sql<JsonValue>`case when ${eb.ref('v.sensitive')} then null else ${eb.ref('v.plan_value')} end`.as('planValue'),
    ]);
}

export function findVariable(em: Em, environmentId: string, name: string): Promise<ShownVariable | undefined> {
  return selectVariables(em, environmentId).where('v.name', '=', name).executeTakeFirst();
}

/** A page of an environment's variables, by name. */
export function listVariables(em: Em, environmentId: string, request: PageRequest): Promise<Page<ShownVariable>> {
  const isName = (text: string) => explainVariableName('template', text) === null;
  return pageByName(selectVariables(em, environmentId), 'v.name', request, isName);
}

/** All variables of an environment as they are shown, by name. */
export function readShownVariables(em: Em, environmentId: string): Promise<ShownVariable[]> {
  return selectVariables(em, environmentId)
    .orderBy((eb) => sql`${eb.ref('v.name')} collate "C"`)
    .execute();
}

export interface WrittenVariable {
  readonly environmentId: string;
  readonly name: string;
  readonly category: VariableCategory;
  readonly sensitive: boolean;
  readonly phases: readonly VariablePhase[];
  /** The value of a variable that is not sensitive. */
  readonly value: JsonValue;
  /** The sealed value of a sensitive variable. */
  readonly sealed: Buffer | null;
  /** Undefined: it stays as it is, or there is none. */
  readonly plan: StoredPlanValue | undefined;
  readonly setBy: string;
}

/** The value for planning as it is stored: plain, sealed, or neither for none. */
export interface StoredPlanValue {
  readonly value: JsonValue;
  readonly sealed: Buffer | null;
}

function planColumns(plan: StoredPlanValue | undefined) {
  if (!plan) return {};
  return { plan_value: plan.value === null ? null : json(plan.value), sealed_plan_value: plan.sealed };
}

/** What the service shows of a variable that it has just written. The database holds no plain values of secrets. */
const shown = [
  'name',
  'category',
  'sensitive',
  'value',
  'revision',
  'plan_value as planValue',
  'updated_at as updatedAt',
  phases.as('phases'),
  hasPlanValue.as('hasPlanValue'),
] as const;

/** Inserts a variable, with a revision after those of the removed ones, or replaces the one of that name. */
export async function writeVariable(em: Em, variable: WrittenVariable): Promise<ShownVariable> {
  const { environmentId, name, category, sensitive, phases: given, value, sealed, plan, setBy } = variable;
  return db(em)
    .insertInto('environment_variables')
    .values((eb) => ({
      environment_id: environmentId,
      name,
      category,
      sensitive,
      value: sealed ? null : json(value),
      sealed_value: sealed,
      ...planColumns(plan),
      in_plan: given.includes('plan'),
      in_apply: given.includes('apply'),
      set_by: setBy,
      revision: eb
        .selectFrom('environments')
        .where('id', '=', environmentId)
        .select((of) => of('removed_variable_revision', '+', 1).as('first'))
        .$asScalar()
        .$notNull(),
      updated_at: sql<string>`clock_timestamp()`,
    }))
    .onConflict((conflict) =>
      conflict.columns(['environment_id', 'name']).doUpdateSet((eb) => ({
        category: eb.ref('excluded.category'),
        sensitive: eb.ref('excluded.sensitive'),
        value: eb.ref('excluded.value'),
        sealed_value: eb.ref('excluded.sealed_value'),
        ...planColumns(plan),
        in_plan: eb.ref('excluded.in_plan'),
        in_apply: eb.ref('excluded.in_apply'),
        set_by: eb.ref('excluded.set_by'),
        revision: eb('environment_variables.revision', '+', 1),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .returning(shown)
    .executeTakeFirstOrThrow();
}

/** Changes a sensitive variable whose value stays, and so does the principal who set it. */
export async function changeKeptVariable(
  em: Em,
  { environmentId, name, phases: given, plan }: Pick<WrittenVariable, 'environmentId' | 'name' | 'phases' | 'plan'>,
): Promise<ShownVariable> {
  return db(em)
    .updateTable('environment_variables')
    .set((eb) => ({
      in_plan: given.includes('plan'),
      in_apply: given.includes('apply'),
      ...planColumns(plan),
      revision: eb('revision', '+', 1),
      updated_at: sql<string>`clock_timestamp()`,
    }))
    .where('environment_id', '=', environmentId)
    .where('name', '=', name)
    .returning(shown)
    .executeTakeFirstOrThrow();
}

/**
 * Removes variables and returns how many of them there were. Variables that are set later begin after their revisions. The caller
 * has locked the environment's row.
 */
export async function deleteVariables(em: Em, environmentId: string, names: readonly string[]): Promise<number> {
  const removed = await db(em)
    .deleteFrom('environment_variables')
    .where('environment_id', '=', environmentId)
    .where('name', '=', (eb) => eb.fn.any(eb.val([...names])))
    .returning('revision')
    .execute();
  if (removed.length === 0) return 0;
  const highest = Math.max(...removed.map(({ revision }) => revision));
  await db(em)
    .updateTable('environments')
    .set((eb) => ({ removed_variable_revision: eb.fn('greatest', ['removed_variable_revision', eb.val(highest)]) }))
    .where('id', '=', environmentId)
    .execute();
  return removed.length;
}

export async function countVariables(em: Em, environmentId: string): Promise<number> {
  const { count } = await db(em)
    .selectFrom('environment_variables')
    .where('environment_id', '=', environmentId)
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** All variables of an environment with their values, sealed ones included, by name. */
export function readVariables(em: Em, environmentId: string) {
  return selectSealedVariables(em, { environmentId });
}

const selectSealedVariables = prepare((db, parameter: ParameterOf<{ environmentId: string }>) =>
  db
    .selectFrom('environment_variables')
    .where('environment_id', '=', parameter('environmentId'))
    .orderBy((eb) => sql`${eb.ref('name')} collate "C"`)
    .select(['name', 'category', 'sensitive', 'value', 'sealed_value as sealedValue', phases.as('phases')])
    .select(['plan_value as planValue', 'sealed_plan_value as sealedPlanValue', 'revision']),
);
