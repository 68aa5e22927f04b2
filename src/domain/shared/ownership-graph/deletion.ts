import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { declaredTables } from '#domain/db.ts';
import type { Kind } from '#domain/ownership.ts';
import { refuseDeletion, type ShowsNames } from './blockers.ts';
import { belowCondition, changeOne, clock, columnsOf, countersOf, linkCondition } from './conditions.ts';
import type { AnyDeclaration, Cascade } from './declaration.ts';
import { baseOf, declarationOf, depthOf, type Edge, edgesTo, kindsBelow } from './graph.ts';

/** The number of rows of each kind that ended with a thing. */
export type EndedRows = Partial<Record<Kind, number>>;

/**
 * Deletes a thing that is empty and not in use, and returns its last revision. A tombstone stays: the slug is free again, and history keeps
 * the id. The caller has locked the row, so that nothing can be created or started in it before the commit.
 * @throws Conflict naming everything that prevents the deletion
 */
export async function deleteOwned(
  em: Em,
  kind: Kind,
  { id }: { readonly id: string },
  showsNames: ShowsNames,
): Promise<number> {
  await refuseDeletion(em, kind, id, { showsNames });
  await cascadeDeletion(em, kind, id);
  return markDeleted(em, kind, id);
}

/** Ends the rows that end with the deletion of a thing: slugs, memberships, secrets. */
export function cascadeDeletion(em: Em, kind: Kind, id: string): Promise<EndedRows> {
  return endAll(em, kind, id, ({ link }) => link.cascade);
}

/** Ends the rows that end when a thing, or an owner of it, gets another owner. Counts the rows that name the thing itself. */
export async function endOnTransfer(em: Em, kind: Kind, id: string): Promise<EndedRows> {
  const [ended] = await Promise.all([endAll(em, kind, id, endingOnTransfer), endBelow(em, kind, id)]);
  return ended;
}

function endingOnTransfer({ link: { onTransfer } }: Edge): Cascade<string> | undefined {
  return onTransfer === 'revised' ? undefined : onTransfer;
}

/**
 * For everything below a transferred thing: ends the rows that end with the transfer of any owner, and removes these things from the lists
 * that they leave on such a transfer.
 */
async function endBelow(em: Em, kind: Kind, id: string): Promise<void> {
  const ends = kindsBelow(kind).flatMap((named) =>
    edgesTo(named.kind as Kind).flatMap((edge) => {
      const cascade = endingOnTransfer(edge);
      return cascade && cascade.rows !== 'deleted' && cascade.withOwner ? [{ ...edge, named, cascade }] : [];
    }),
  );
  await Promise.all(
    ends.map(({ declaration, link, named, cascade }) => {
      if (cascade.rows === 'unlisted') return unlist(em, declaration, cascade.from, idsBelow(em, named, kind, id));
      const name = columnsOf('x')(link.columns[0] ?? 'id');
      return endRows(em, declaration, cascade, sql<SqlBool>`${name} in ${selectBelow(em, named, kind, id)}`);
    }),
  );
}

/** The statements are sent together and carried out one after the other. */
async function endAll(
  em: Em,
  kind: Kind,
  id: string,
  cascadeOf: (edge: Edge) => Cascade<string> | undefined,
): Promise<EndedRows> {
  const counts = await Promise.all(
    edgesTo(kind).flatMap((edge) => {
      const cascade = cascadeOf(edge);
      if (!cascade) return [];
      const { declaration, link } = edge;
      const rows =
        cascade.rows === 'unlisted'
          ? unlist(em, declaration, cascade.from, oneId(id))
          : endRows(em, declaration, cascade, linkCondition(link, id));
      return [rows.then((count): [string, number] => [declaration.kind, count])];
    }),
  );
  return Object.fromEntries(counts);
}

/** Ends the rows `x` under a condition, and counts them. */
async function endRows(
  em: Em,
  { table }: AnyDeclaration,
  cascade: Exclude<Cascade<string>, { rows: 'unlisted' }>,
  condition: Expression<SqlBool>,
): Promise<number> {
  const tables = declaredTables(em);
  if (cascade.rows === 'deleted') {
    const { numDeletedRows } = await tables.deleteFrom(`${table} as x`).where(condition).executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }
  const revised = cascade.revised ? { revision: sql`${sql.ref('revision')} + 1` } : {};
  const { numUpdatedRows } = await tables
    .updateTable(`${table} as x`)
    .set({ [cascade.at]: clock, ...revised })
    .where(condition)
    .where(cascade.when(columnsOf('x')))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Counts a change of owner, which voids all earlier grants. */
export async function countChange(em: Em, kind: Kind, id: string): Promise<void> {
  await changeOne(em, baseOf(kind), id);
}

/** Marks a thing as deleted; returns its last revision. */
export async function markDeleted(em: Em, kind: Kind, id: string): Promise<number> {
  const base = baseOf(kind);
  if (!base.tombstone) throw new Error(`the kind "${kind}" does not declare that its deletion leaves a tombstone`);
  return changeOne(em, base, id, { deletedAt: clock, ...(base.disableable && { enabled: false }) });
}

/**
 * Locks the things of which the principal may be the sole owner, and the owners of these, outermost first. Until the transaction ends, no
 * other owner of them can leave or get a weaker role.
 */
export async function lockSoleOwnerships(em: Em, kind: Kind, id: string): Promise<void> {
  const shared = edgesTo(kind).filter(({ link }) => link.blocker?.unlessShared);
  const kinds = new Set(shared.flatMap(({ link }) => link.blocker?.names ?? []));
  for (const owner of [...kinds].sort((one, other) => depthOf(one) - depthOf(other))) {
    const ids = shared.flatMap((edge) => selectOwnerIds(em, edge, owner, id));
    await declaredTables(em)
      .selectFrom(declarationOf(owner).table)
      .where(sql<SqlBool>`${sql.ref('id')} in (${sql.join(ids, sql` union `)})`)
      .orderBy('id')
      .select('id')
      .forNoKeyUpdate()
      .execute();
  }
}

/** Selects the ids of the owners of one kind that rows with this link have, directly or by an owner in between. */
function selectOwnerIds(em: Em, { declaration, link }: Edge, owner: string, id: string): Expression<unknown>[] {
  const names = link.blocker?.names ?? [];
  if (!names.includes(owner)) return [];
  const inwards = [...names.slice(names.indexOf(owner) + 1), declaration.kind].toReversed();
  let condition = linkCondition(link, id);
  const selects = inwards.map((kind, index) => {
    const above = inwards[index + 1] ?? owner;
    const column = declarationOf(kind).owners?.find((each) => each.kind === above)?.columns[0] ?? 'id';
    const select = declaredTables(em)
      .selectFrom(`${declarationOf(kind).table} as x`)
      .where(condition)
      .select(`x.${column} as id`);
    condition = sql<SqlBool>`${columnsOf('x')('id')} in ${select}`;
    return select;
  });
  return selects.slice(-1).map((select) => sql`${select}`);
}

/** The ids, as text, of the things to remove from a list. */
type UnlistedIds = Expression<unknown>;

function oneId(id: string): UnlistedIds {
  return sql`${id}::text`;
}

/** The ids of all things of a kind below an owner. */
function selectBelow(em: Em, { kind, table }: AnyDeclaration, owner: Kind, id: string) {
  return declaredTables(em)
    .selectFrom(`${table} as x`)
    .where((eb) => belowCondition(kind, owner, id) ?? eb.lit(false))
    .select('x.id');
}

/** The ids of `selectBelow`, as text. */
function idsBelow(em: Em, named: AnyDeclaration, owner: Kind, id: string): UnlistedIds {
  return sql`(select below.id::text from ${selectBelow(em, named, owner, id)} as below)`;
}

/**
 * Removes ids from the JSON lists in a column of a kind, and counts the changed rows. The other entries keep their order. A list that
 * becomes empty stays an empty list, because null would mean all.
 */
async function unlist(em: Em, declaration: AnyDeclaration, column: string, ids: UnlistedIds): Promise<number> {
  const entries = sql`jsonb_array_elements_text(${columnsOf('x')(column)}) with ordinality as entry(id, place)`;
  const kept = sql`(select coalesce(jsonb_agg(entry.id order by entry.place), '[]') from ${entries} where entry.id not in (${ids}))`;
  const { numUpdatedRows } = await declaredTables(em)
    .updateTable(`${declaration.table} as x`)
    .set({ [column]: kept, ...countersOf(declaration) })
    .where(sql<SqlBool>`exists (select 1 from ${entries} where entry.id in (${ids}))`)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
