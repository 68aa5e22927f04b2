import { type Expression, type Insertable, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { secretNamesByVersions } from '#domain/instances/secret-outputs.ts';
import { type ChangeCounts, type ChangeKind, changeKinds } from './change-kinds.ts';
import { changeActions, isEffective, type ResourceChange } from './model.ts';
import { maskPlannedOutputs, outputPrefix, type PlanSections } from './sections.ts';

/** What narrows the changes of a plan. */
export interface ChangeFilter {
  readonly kind?: ChangeKind | undefined;
  /** A text in the address, or in the name or value of an attribute that changes; in either case. */
  readonly text?: string | undefined;
  /** The position after which the page starts; 0 for the first page. */
  readonly after: number;
  readonly limit: number;
}

/** A change with its place in the whole plan, which does not depend on the filter. Places begin with 1, and destroys come first. */
export interface PlacedChange {
  readonly position: number;
  readonly kind: ChangeKind;
  readonly change: ResourceChange;
}

export interface ChangePage {
  readonly digest: string;
  readonly counts: ChangeCounts;
  /** How many changes the plan has. */
  readonly total: number;
  /** How many of them match the filter. */
  readonly matching: number;
  readonly changes: readonly PlacedChange[];
  /** Null: the page is not the first, or the plan was stored before the service kept them. */
  readonly sections: PlanSections | null;
  /** The position after which the next page starts; null: there is none. */
  readonly nextAfter: number | null;
}

interface PageRow {
  readonly digest: string;
  readonly kinds: Partial<Record<ChangeKind, number>>;
  readonly moved: number;
  readonly imported: number;
  readonly total: number;
  readonly matching: number;
  readonly sections: PlanSections | null;
  readonly page: PlacedChange[];
  /** The outputs that a newer version marks as secret. */
  readonly secret: readonly string[];
}

/**
 * Reads one page of the changes of a plan. The database cuts it out, because a plan may have many megabytes. Undefined: the run has
 * no plan.
 */
export async function readPlanChanges(em: Em, runId: string, filter: ChangeFilter): Promise<ChangePage | undefined> {
  const row = await db(em)
    .with(
      (name) => name('placed').materialized(),
      () => selectPlaced(runId),
    )
    .with('matching', (queries) => queries.selectFrom('placed').where(matches(filter)).selectAll())
    .selectFrom('run_plans')
    .where('runId', '=', runId)
    .select([
      'digest',
      sql<PageRow['kinds']>`coalesce((select jsonb_object_agg(kind, number)
        from (select kind, count(*) as number from placed group by kind) as counted), '{}')`.as('kinds'),
      countPlaced(sql`change ->> 'previousAddress' is not null`).as('moved'),
      countPlaced(sql`change ->> 'imported' is not null`).as('imported'),
      countPlaced(sql`true`).as('total'),
      sql<number>`(select count(*)::int from matching)`.as('matching'),
      filter.after === 0 ? 'sections' : sql<null>`null`.as('sections'),
      selectPage(filter).as('page'),
    ])
    .select(({ ref }) => secretNamesByVersions(ref('run_plans.runId')).as('secret'))
    .executeTakeFirst();
  return row && toPage(row, filter);
}

/**
 * Whether everything that the plan of a run changes or invokes is also in the plan of the run `modelId`: resources, outputs and actions.
 * Checks and warnings do not count. True for a run without a plan, which changes nothing yet. False if the plan of the model was deleted.
 */
export async function plansNothingBeyond(em: Em, runId: string, modelId: string): Promise<boolean> {
  const beyond = selectEffective(em, runId).except(selectEffective(em, modelId)).limit(1);
  const row = await db(em)
    .selectNoFrom((eb) => [eb.not(eb.exists(beyond)).as('keeps')])
    .executeTakeFirstOrThrow();
  return Boolean(row.keeps);
}

/** What a plan does: the resources and outputs that it changes, and the actions that it invokes, each by its address. */
function selectEffective(em: Em, runId: string) {
  const outputs = selectSection(em, runId, 'outputs').select([
    sql<string | null>`${outputPrefix} || (each.value ->> 'name')`.as('address'),
    sql<string | null>`each.value ->> 'action'`.as('action'),
    sql<string | null>`null::text`.as('previous'),
  ]);
  const actions = selectSection(em, runId, 'actions')
    .where(sql<SqlBool>`each.value ->> 'deferred' is null`)
    .select([
      sql<string | null>`each.value ->> 'address'`.as('address'),
      sql<string | null>`coalesce(each.value ->> 'event', 'invoke')`.as('action'),
      sql<string | null>`each.value ->> 'trigger'`.as('previous'),
    ]);
  // A subquery, because an `except` directly after a union would apply only to the last part of the union.
  return db(em).selectFrom(selectTouched(em, runId).unionAll(outputs).unionAll(actions).as('touched')).selectAll();
}

function selectSection(em: Em, runId: string, section: 'outputs' | 'actions') {
  const each = sql<{ value: unknown }>`jsonb_array_elements(plan.sections -> ${sql.lit(section)})`.as('each');
  return db(em)
    .selectFrom('run_plans as plan')
    .innerJoinLateral(each, (join) => join.onTrue())
    .where('plan.runId', '=', runId);
}

function selectTouched(em: Em, runId: string) {
  const change = sql<{ value: unknown }>`jsonb_array_elements(${sql.ref('plan.changes')})`.as('change');
  const part = (name: string) => sql<string | null>`change.value ->> ${sql.lit(name)}`;
  return db(em)
    .selectFrom('run_plans as plan')
    .innerJoinLateral(change, (join) => join.onTrue())
    .where('plan.runId', '=', runId)
    .where((eb) =>
      eb.or([
        eb(part('action'), '=', eb.fn.any(eb.val(changeActions.filter(isEffective)))),
        eb(part('previousAddress'), 'is not', null),
      ]),
    )
    .select([part('address').as('address'), part('action').as('action'), part('previousAddress').as('previous')]);
}

function toPage(
  { kinds, moved, imported, page, sections, secret, ...row }: PageRow,
  { limit }: ChangeFilter,
): ChangePage {
  const counts = Object.fromEntries(changeKinds.map((kind) => [kind, kinds[kind] ?? 0])) as ChangeCounts;
  const changes = page.slice(0, limit);
  const nextAfter = page.length > limit ? (changes.at(-1)?.position ?? null) : null;
  const shown = maskPlannedOutputs(sections, secret);
  return { ...row, counts: { ...counts, move: moved, import: imported }, changes, sections: shown, nextAfter };
}

/** The changes of a plan with their kinds, in the order in which people should read them. */
function selectPlaced(runId: string) {
  return sql<PlacedChange>`(
    select row_number() over (order by array_position(${sql.val([...changeKinds])}::text[], kind), place)::int as position, kind, change
    from (
      select change, place, ${kindOf(sql`change`)} as kind
      from run_plans as plan, jsonb_array_elements(plan.changes) with ordinality as listed(change, place)
      where plan.run_id = ${runId}
    ) as sorted)`;
}

function kindOf(change: Expression<unknown>) {
  return sql<ChangeKind>`case ${change} ->> 'action'
    when 'delete' then 'destroy' when 'replace' then 'replace' when 'update' then 'change' when 'create' then 'add'
    when 'forget' then 'forget' when 'read' then 'read'
    else case
      when ${change} ->> 'imported' is not null then 'import'
      when ${change} ->> 'previousAddress' is not null then 'move'
      else 'unchanged' end
    end`;
}

function countPlaced(condition: Expression<unknown>) {
  return sql<number>`(select count(*)::int from placed where ${condition})`;
}

/** Selects one row more than the page, which shows whether another page follows. */
function selectPage({ after, limit }: ChangeFilter) {
  return sql<
    PlacedChange[]
  >`coalesce((select jsonb_agg(jsonb_build_object('position', position, 'kind', kind, 'change', change)
    order by position) from (select * from matching where position > ${after} order by position limit ${limit + 1}) as next), '[]')`;
}

function matches({ kind, text }: ChangeFilter): Expression<SqlBool> {
  return sql<SqlBool>`(${isOfKind(kind)} and ${hasText(text)})`;
}

/** A resource that is moved or imported may also change, so these two kinds are read from their own columns. */
function isOfKind(kind: ChangeKind | undefined): Expression<SqlBool> {
  if (kind === undefined) return sql<SqlBool>`true`;
  if (kind === 'move') return sql<SqlBool>`change ->> 'previousAddress' is not null`;
  if (kind === 'import') return sql<SqlBool>`change ->> 'imported' is not null`;
  return sql<SqlBool>`kind = ${kind}`;
}

/** A text in an address, or in an attribute that differs between before and after. Attributes that stay do not count. */
function hasText(text: string | undefined): Expression<SqlBool> {
  if (text === undefined) return sql<SqlBool>`true`;
  const holds = (value: Expression<unknown>) => sql`strpos(lower(${value}), lower(${text})) > 0`;
  const attributes = (side: 'before' | 'after') =>
    sql`jsonb_each(case jsonb_typeof(change -> ${sql.lit(side)}) when 'object' then change -> ${sql.lit(side)} else '{}' end)`;
  return sql<SqlBool>`(${holds(sql`change ->> 'address'`)} or ${holds(sql`coalesce(change ->> 'previousAddress', '')`)} or exists (
    select from ${attributes('before')} as old full join ${attributes('after')} as new on new.key = old.key
    where old.value is distinct from new.value and (${holds(sql`coalesce(new.key, old.key)`)}
      or ${holds(sql`coalesce(old.value::text, '')`)} or ${holds(sql`coalesce(new.value::text, '')`)})))`;
}

/**
 * Stores the plan of a run in place of an earlier one. Kysely writes it, because `em.upsert` copies a plan in time that grows with the square
 * of its size, and loses members with the name `__proto__`.
 */
export async function writePlan(
  em: Em,
  runId: string,
  plan: Omit<Insertable<Tables['run_plans']>, 'runId'>,
): Promise<void> {
  await db(em)
    .insertInto('run_plans')
    .values({ runId, ...plan })
    .onConflict((conflict) => conflict.column('runId').doUpdateSet(plan))
    .execute();
}
