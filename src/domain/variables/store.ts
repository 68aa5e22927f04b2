import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { declaredTables } from '#domain/db.ts';
import { type Page, type PageRequest, pageByName } from '#domain/shared/paging/paging.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { type ChangedHolder, placeOf, type VariableHolder, variableTables } from './holders.ts';
import type { VariableCategory, VariablePhase } from './model.ts';
import { explainVariableName } from './names.ts';

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

/** The phases in which tools get a variable, as an array of PostgreSQL. */
const phases = sql<
  VariablePhase[]
>`array_remove(array[case when in_plan then 'plan' end, case when in_apply then 'apply' end], null)`;

const hasPlanValue = sql<boolean>`(plan_value is not null or sealed_plan_value is not null)`;

function selectVariables(em: Em, holder: VariableHolder) {
  const { table, column } = placeOf(holder);
  return variableTables(em)
    .selectFrom(`${table} as v`)
    .where(`v.${column}`, '=', holder.id)
    .select(['v.name', 'v.category', 'v.sensitive', 'v.revision', 'v.updatedAt', phases.as('phases')])
    .select(hasPlanValue.as('hasPlanValue'))
    .select((eb) => [
      sql<JsonValue>`case when ${eb.ref('v.sensitive')} then null else ${eb.ref('v.value')} end`.as('value'),
      sql<JsonValue>`case when ${eb.ref('v.sensitive')} then null else ${eb.ref('v.planValue')} end`.as('planValue'),
    ]);
}

export function findVariable(em: Em, holder: VariableHolder, name: string): Promise<ShownVariable | undefined> {
  return selectVariables(em, holder).where('v.name', '=', name).executeTakeFirst();
}

/** A page of a holder's variables, by name. */
export function listVariables(em: Em, holder: VariableHolder, request: PageRequest): Promise<Page<ShownVariable>> {
  const isName = (text: string) => explainVariableName('template', text) === null;
  return pageByName(selectVariables(em, holder), 'v.name', request, isName);
}

/** All variables of a holder without sensitive values, ordered by name. */
export function readShownVariables(em: Em, holder: VariableHolder): Promise<ShownVariable[]> {
  return selectVariables(em, holder)
    .orderBy((eb) => sql`${eb.ref('v.name')} collate "C"`)
    .execute();
}

export interface WrittenVariable {
  readonly holder: VariableHolder;
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

/** The stored form of the value for planning: plain or sealed; both are null if there is none. */
export interface StoredPlanValue {
  readonly value: JsonValue;
  readonly sealed: Buffer | null;
}

function planColumns(plan: StoredPlanValue | undefined) {
  if (!plan) return {};
  return { planValue: plan.value === null ? null : json(plan.value), sealedPlanValue: plan.sealed };
}

/** The columns that the service returns of a variable that it has just written. The database contains no plain values of secrets. */
const shown = [
  'name',
  'category',
  'sensitive',
  'value',
  'revision',
  'planValue',
  'updatedAt',
  phases.as('phases'),
  hasPlanValue.as('hasPlanValue'),
] as const;

/** Inserts a variable, or replaces the one of that name. The revision of a new one is higher than those of removed variables. */
export async function writeVariable(em: Em, variable: WrittenVariable): Promise<ShownVariable> {
  const { holder, name, category, sensitive, phases: given, value, sealed, plan, setBy } = variable;
  const { table, column, holders } = placeOf(holder);
  const firstRevision = declaredTables(em)
    .selectFrom(holders)
    .where('id', '=', holder.id)
    .select((eb) => eb('removedVariableRevision', '+', 1).as('first'))
    .$castTo<{ first: number }>();
  return variableTables(em)
    .insertInto(table)
    .values({
      [column]: holder.id,
      name,
      category,
      sensitive,
      value: sealed ? null : json(value),
      sealedValue: sealed,
      ...planColumns(plan),
      inPlan: given.includes('plan'),
      inApply: given.includes('apply'),
      setBy,
      revision: sql<number>`${firstRevision}`,
      updatedAt: sql<string>`clock_timestamp()`,
    })
    .onConflict((conflict) =>
      conflict.columns([column, 'name']).doUpdateSet((eb) => ({
        category: eb.ref('excluded.category'),
        sensitive: eb.ref('excluded.sensitive'),
        value: eb.ref('excluded.value'),
        sealedValue: eb.ref('excluded.sealedValue'),
        ...planColumns(plan),
        inPlan: eb.ref('excluded.inPlan'),
        inApply: eb.ref('excluded.inApply'),
        setBy: eb.ref('excluded.setBy'),
        revision: eb(`${table}.revision`, '+', 1),
        updatedAt: eb.ref('excluded.updatedAt'),
      })),
    )
    .returning(shown)
    .executeTakeFirstOrThrow();
}

/** Changes a sensitive variable, but neither its value nor the principal who set the value. */
export async function changeKeptVariable(
  em: Em,
  { holder, name, phases: given, plan }: Pick<WrittenVariable, 'holder' | 'name' | 'phases' | 'plan'>,
): Promise<ShownVariable> {
  const { table, column } = placeOf(holder);
  return variableTables(em)
    .updateTable(table)
    .set((eb) => ({
      inPlan: given.includes('plan'),
      inApply: given.includes('apply'),
      ...planColumns(plan),
      revision: eb('revision', '+', 1),
      updatedAt: sql<string>`clock_timestamp()`,
    }))
    .where(column, '=', holder.id)
    .where('name', '=', name)
    .returning(shown)
    .executeTakeFirstOrThrow();
}

/**
 * Removes variables and returns how many of them existed. Variables that are created later get higher revisions. The caller has locked the
 * holder's row.
 */
export async function deleteVariables(em: Em, holder: VariableHolder, names: readonly string[]): Promise<number> {
  const { table, column, holders } = placeOf(holder);
  const removed = await variableTables(em)
    .deleteFrom(table)
    .where(column, '=', holder.id)
    .where('name', '=', (eb) => eb.fn.any(eb.val([...names])))
    .returning('revision')
    .execute();
  if (removed.length === 0) return 0;
  const highest = Math.max(...removed.map(({ revision }) => revision));
  await declaredTables(em)
    .updateTable(holders)
    .set((eb) => ({ removedVariableRevision: eb.fn('greatest', ['removedVariableRevision', eb.val(highest)]) }))
    .where('id', '=', holder.id)
    .execute();
  return removed.length;
}

/** Raises the revision of a holder whose variables changed, and returns it. The caller has locked the row of the holder. */
export async function countVariableChange(em: Em, holder: ChangedHolder): Promise<number> {
  const { holders, revision } = placeOf(holder);
  const raised = holder.variablesRevision + 1;
  await sql`update ${sql.table(holders)} set ${sql.ref(revision)} = ${raised} where id = ${holder.id}`.execute(
    variableTables(em),
  );
  return raised;
}

export async function countVariables(em: Em, holder: VariableHolder): Promise<number> {
  const { table, column } = placeOf(holder);
  const { count } = await variableTables(em)
    .selectFrom(table)
    .where(column, '=', holder.id)
    .select(sql<number>`count(*)::int`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
