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
  readonly revision: number;
  readonly updatedAt: string;
}

/** The phases in which a variable is given, as an array of PostgreSQL. */
const phases = sql<
  VariablePhase[]
>`array_remove(array[case when in_plan then 'plan' end, case when in_apply then 'apply' end], null)`;

function selectVariables(em: Em, environmentId: string) {
  return db(em)
    .selectFrom('environment_variables as v')
    .where('v.environment_id', '=', environmentId)
    .select(['v.name', 'v.category', 'v.sensitive', 'v.revision', 'v.updated_at as updatedAt', phases.as('phases')])
    .select((eb) =>
      sql<JsonValue>`case when ${eb.ref('v.sensitive')} then null else ${eb.ref('v.value')} end`.as('value'),
    );
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
  readonly setBy: string;
}

/** Inserts a variable or replaces the one of that name. */
export async function writeVariable(em: Em, variable: WrittenVariable): Promise<ShownVariable> {
  const { environmentId, name, category, sensitive, phases: given, value, sealed, setBy } = variable;
  return db(em)
    .insertInto('environment_variables')
    .values({
      environment_id: environmentId,
      name,
      category,
      sensitive,
      value: sealed ? null : json(value),
      sealed_value: sealed,
      in_plan: given.includes('plan'),
      in_apply: given.includes('apply'),
      set_by: setBy,
      updated_at: sql<string>`clock_timestamp()`,
    })
    .onConflict((conflict) =>
      conflict.columns(['environment_id', 'name']).doUpdateSet((eb) => ({
        category: eb.ref('excluded.category'),
        sensitive: eb.ref('excluded.sensitive'),
        value: eb.ref('excluded.value'),
        sealed_value: eb.ref('excluded.sealed_value'),
        in_plan: eb.ref('excluded.in_plan'),
        in_apply: eb.ref('excluded.in_apply'),
        set_by: eb.ref('excluded.set_by'),
        revision: eb('environment_variables.revision', '+', 1),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .returning(['name', 'category', 'sensitive', 'value', 'revision', 'updated_at as updatedAt', phases.as('phases')])
    .executeTakeFirstOrThrow();
}

/** Changes the phases in which a sensitive variable is given. Its value stays, and so does the principal who set it. */
export async function changePhases(
  em: Em,
  environmentId: string,
  name: string,
  given: readonly VariablePhase[],
): Promise<ShownVariable> {
  return db(em)
    .updateTable('environment_variables')
    .set((eb) => ({
      in_plan: given.includes('plan'),
      in_apply: given.includes('apply'),
      revision: eb('revision', '+', 1),
      updated_at: sql<string>`clock_timestamp()`,
    }))
    .where('environment_id', '=', environmentId)
    .where('name', '=', name)
    .returning(['name', 'category', 'sensitive', 'value', 'revision', 'updated_at as updatedAt', phases.as('phases')])
    .executeTakeFirstOrThrow();
}

/** Removes a variable; false if the environment has none of that name. */
export async function deleteVariable(em: Em, environmentId: string, name: string): Promise<boolean> {
  const { numDeletedRows } = await db(em)
    .deleteFrom('environment_variables')
    .where('environment_id', '=', environmentId)
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0;
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
    .select(['name', 'category', 'sensitive', 'value', 'sealed_value as sealedValue', phases.as('phases')]),
);
