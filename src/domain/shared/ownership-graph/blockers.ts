import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { type DeclaredTables, declaredTables } from '#domain/db.ts';
import type { Kind } from '#domain/ownership.ts';
import { type Refusal, throwIfRefused } from '../actions.ts';
import { belowCondition, columnsOf, linkCondition } from './conditions.ts';
import type { AnyDeclaration, Blocker, Row, Use } from './declaration.ts';
import { declarationOf, edgesTo, kindsBelow, ownerColumn } from './graph.ts';
import { type Join, labelOf, namedBy } from './labels.ts';
import { enumerate, findNames } from './names.ts';

/**
 * Whether the caller may read all blocking things of a kind, or the condition for those that the caller may read. A conflict names these,
 * and only counts the others.
 */
export type ShowsNames = (kind: string, row: Row<string>) => boolean | Expression<SqlBool>;

/** The wording of a conflict: `<subject> has projects: …; delete them first<joint>has templates: …`. */
export interface Wording {
  readonly subject?: string;
  readonly joint?: string;
  readonly showsNames: ShowsNames;
}

/** For conflicts about rows below a thing, if the right to the thing includes reading all of them. */
const everyName: Wording = { showsNames: () => true };

/** @throws Conflict naming the instances that still hold resources and the runs that have not ended */
export async function refuseArchiving(em: Em, kind: Kind, id: string): Promise<void> {
  throwIfRefused(await findArchivingRefusal(em, kind, id));
}

/** @throws Conflict naming or counting everything that uses the thing, and everything that would lose its owner or its author */
export async function refuseDeletion(em: Em, kind: Kind, id: string, wording: Wording): Promise<void> {
  throwIfRefused(await findDeletionRefusal(em, kind, id, wording));
}

/** The refusal of a deletion at this moment; null if it is allowed. */
export function findDeletionRefusal(em: Em, kind: Kind, id: string, wording: Wording): Promise<Refusal | null> {
  return findRefusal(em, kind, [...usesThatPrevent(['deletion'], kind, id), ...blockersOf(kind, id)], wording);
}

/** The refusal to archive a thing at this moment; null if it is allowed. */
export function findArchivingRefusal(em: Em, kind: Kind, id: string): Promise<Refusal | null> {
  const blockers = blockersOf(kind, id).filter(({ blocker }) => preventsArchiving(blocker));
  return findRefusal(em, kind, [...usesThatPrevent(['archiving'], kind, id), ...blockers]);
}

/** The refusals to archive and to delete a thing at this moment; null if allowed. */
export interface Used {
  readonly archiving: Refusal | null;
  readonly deletion: Refusal | null;
}

/** Reads what uses a thing. */
export async function findUse(em: Em, kind: Kind, id: string, wording: Wording): Promise<Used> {
  const candidates = [...usesThatPrevent(['archiving', 'deletion'], kind, id), ...blockersOf(kind, id)];
  const reasons = await findReasons(em, candidates, wording);
  const archiving = reasons.filter(({ blocker }) => preventsArchiving(blocker));
  const deletion = reasons.filter(({ blocker }) => !('prevents' in blocker) || blocker.prevents.includes('deletion'));
  return { archiving: toRefusal(kind, archiving, wording), deletion: toRefusal(kind, deletion, wording) };
}

/** @throws Conflict naming the uses of the kinds whose columns the transfer of a thing changes */
export async function refuseTransfer(em: Em, kind: Kind, id: string, moved: readonly AnyDeclaration[]): Promise<void> {
  const uses = usesThatPrevent(['transfer'], kind, id).filter(({ declaration }) => moved.includes(declaration));
  throwIfRefused(await findRefusal(em, kind, uses));
}

function preventsArchiving(blocker: Candidate['blocker']): boolean {
  return 'prevents' in blocker ? blocker.prevents.includes('archiving') : blocker.preventsArchiving === true;
}

/** A blocker of one thing, with the condition of the rows that may be that blocker. */
interface Candidate {
  readonly declaration: AnyDeclaration;
  readonly blocker: Blocker<string> | Use<string>;
  readonly condition: Expression<SqlBool>;
}

type Change = Use<string>['prevents'][number];

function usesThatPrevent(changes: readonly Change[], kind: Kind, id: string): Candidate[] {
  const candidates = kindsBelow(kind).flatMap((declaration) => {
    const condition = belowCondition(declaration.kind, kind, id) ?? sql<SqlBool>`false`;
    const uses = (declaration.uses ?? []).filter(({ prevents }) => changes.some((change) => prevents.includes(change)));
    return uses.map((blocker) => ({ declaration, blocker, condition }));
  });
  // Unconditional uses first.
  return candidates.sort((one, other) => Number('tiedTo' in one.blocker) - Number('tiedTo' in other.blocker));
}

/** The blockers of a thing: first things that it owns, then roles that must have another holder, then other references. */
function blockersOf(kind: Kind, id: string): Candidate[] {
  const found = edgesTo(kind).flatMap(({ declaration, link, isOwner }) => {
    const { blocker } = link;
    if (!blocker || (blocker.onlyOf !== undefined && blocker.onlyOf !== kind)) return [];
    const rank = isOwner ? 0 : blocker.unlessShared ? 1 : 2;
    return [{ rank, declaration, blocker, condition: linkCondition(link, id) }];
  });
  return found.sort((one, other) => one.rank - other.rank);
}

async function findRefusal(
  em: Em,
  kind: Kind,
  candidates: readonly Candidate[],
  wording: Wording = everyName,
): Promise<Refusal | null> {
  return toRefusal(kind, await findReasons(em, candidates, wording), wording);
}

/** An existing blocker, in words. */
interface Reason {
  readonly blocker: Candidate['blocker'];
  readonly text: string;
}

async function findReasons(em: Em, candidates: readonly Candidate[], { showsNames }: Wording): Promise<Reason[]> {
  const found = await Promise.all(
    candidates.map(async (candidate) => {
      const { blocker, declaration } = candidate;
      const isShown = showsNames(declaration.kind, columnsOf('x'));
      const blockers = await describeBlockers(em, blockingNames(em, candidate), isShown);
      return blockers ? [{ blocker, text: `${blocker.message}: ${blockers}; ${blocker.remedy}` }] : [];
    }),
  );
  return found.flat();
}

/** One refusal names everything that blocks. */
function toRefusal(
  kind: Kind,
  reasons: readonly Reason[],
  { subject = `the ${kind}`, joint = '; it ' }: Wording,
): Refusal | null {
  if (reasons.length === 0) return null;
  return { code: 'in_use', message: `${subject} ${reasons.map(({ text }) => text).join(joint)}` };
}

type Names = ReturnType<typeof blockingNames>;

/** The names that the caller may read, and the number of the others; empty if nothing blocks. */
async function describeBlockers(em: Em, all: Names, isShown: boolean | Expression<SqlBool>): Promise<string> {
  if (isShown === true) return enumerate(await findNames(all));
  if (isShown === false) return describeCount(await countNames(em, all));
  const [names, hidden] = await Promise.all([
    findNames(all.where(isShown)),
    countNames(
      em,
      all.where((eb) => eb.not(isShown)),
    ),
  ]);
  if (names.length === 0) return describeCount(hidden);
  return hidden === 0 ? enumerate(names) : `${enumerate(names)}, and ${hidden} that you may not read`;
}

function describeCount(count: number): string {
  return count === 0 ? '' : String(count);
}

async function countNames(em: Em, names: Names): Promise<number> {
  const { count } = await declaredTables(em)
    .selectFrom(names.as('blocking'))
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Selects the names of the rows that block, as `name`. */
function blockingNames(em: Em, { declaration, blocker, condition }: Candidate) {
  const { kind, table } = declaration;
  const { names = [kind], separator = '/', includes = 'present' } = blocker;
  const named = namedBy(declaration, names, separator, includes);
  const tie = 'tiedTo' in blocker && blocker.tiedTo ? tieOf(kind, blocker.tiedTo) : undefined;
  const conditions = [
    condition,
    ...(blocker.when ? [blocker.when(columnsOf('x'))] : []),
    ...named.conditions,
    ...(blocker.unlessShared ? [unsharedCondition(declaration, blocker)] : []),
  ];
  let query = declaredTables(em).selectFrom(`${table} as x`).$castTo<{ name: string }>();
  for (const { table: joined, alias, on } of [...named.joins, ...(tie ? [tie.join] : [])])
    query = query.innerJoin(`${joined} as ${alias}`, (join) => join.on(on));
  for (const each of conditions) query = query.where(each);
  for (const each of named.key) query = query.orderBy(each);
  const label = sql<string>`${named.label}${tie?.label ?? sql``}`.as('name');
  // DISTINCT lists rows that are named only by their owner once. It requires the ordering columns in the selection.
  if (names.includes(kind)) return query.select(label);
  return query.select([label, ...named.key.map((column, index) => sql`${column}`.as(`key_${index}`))]).distinct();
}

/** Joins the thing that a row refers to if both have the same owner. */
function tieOf(
  kind: string,
  { kind: other, sharing }: NonNullable<Use<string>['tiedTo']>,
): { label: Expression<string>; join: Join } {
  const column = declarationOf(kind).references?.find((link) => link.kind === other)?.columns[0] ?? 'id';
  const [x, tied] = [columnsOf('x'), columnsOf('tied')];
  return {
    label: sql<string>` || ' (' || ${sql.lit(other)} || ' ' || ${labelOf(other, 'tied')} || ')'`,
    join: {
      table: declarationOf(other).table,
      alias: 'tied',
      on: sql<SqlBool>`${tied('id')} = ${x(column)}
        and ${tied(ownerColumn(other, sharing))} = ${x(ownerColumn(kind, sharing))}`,
    },
  };
}

/** True if there is no other eligible owner. */
function unsharedCondition(
  { kind, table, owners = [] }: AnyDeclaration,
  blocker: Blocker<string>,
): Expression<SqlBool> {
  const principal = declarationOf('principal');
  const column = declarationOf(kind).references?.find((link) => link.blocker === blocker)?.columns[0] ?? 'id';
  const [x, other, able] = [columnsOf('x'), columnsOf('other'), columnsOf('able')];
  const conditions = [
    ...owners.map(({ columns: [owner = 'id'] }) => sql<SqlBool>`${other(owner)} = ${x(owner)}`),
    ...(blocker.when ? [blocker.when(other)] : []),
    sql<SqlBool>`${other(column)} <> ${x(column)}`,
    ...(principal.ableToOwn ? [principal.ableToOwn(able)] : []),
  ];
  const eb = expressionBuilder<DeclaredTables>();
  const others = eb
    .selectFrom(`${table} as other`)
    .innerJoin(`${principal.table} as able`, (join) => join.on(sql<SqlBool>`${able('id')} = ${other(column)}`))
    .where(eb.and(conditions))
    .select('other.id');
  return eb.not(eb.exists(others));
}
