import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { Kind } from '#domain/ownership.ts';
import { belowCondition, columnsOf, countersOf, declaredTables } from './conditions.ts';
import type { AnyDeclaration } from './declaration.ts';

/** The ids, as text, of the things that leave a list. */
export type UnlistedIds = Expression<unknown>;

export function oneId(id: string): UnlistedIds {
  return sql`${id}::text`;
}

/** The ids of all things of a kind below an owner. */
export function selectBelow(em: Em, { kind, table }: AnyDeclaration, owner: Kind, id: string) {
  return declaredTables(em)
    .selectFrom(`${table} as x`)
    .where((eb) => belowCondition(kind, owner, id) ?? eb.lit(false))
    .select('x.id');
}

/** The same, as text. */
export function idsBelow(em: Em, named: AnyDeclaration, owner: Kind, id: string): UnlistedIds {
  return sql`(select below.id::text from ${selectBelow(em, named, owner, id)} as below)`;
}

/**
 * Takes ids off a JSON list of every row of a kind that names one of them, and counts the changed rows. The other entries keep
 * their order. A list that becomes empty stays an empty list, because null stands for all.
 */
export async function unlist(em: Em, declaration: AnyDeclaration, column: string, ids: UnlistedIds): Promise<number> {
  const entries = sql`jsonb_array_elements_text(${columnsOf('x')(column)}) with ordinality as entry(id, place)`;
  const kept = sql`(select coalesce(jsonb_agg(entry.id order by entry.place), '[]') from ${entries} where entry.id not in (${ids}))`;
  const { numUpdatedRows } = await declaredTables(em)
    .updateTable(`${declaration.table} as x`)
    .set({ [column]: kept, ...countersOf(declaration) })
    .where(sql<SqlBool>`exists (select 1 from ${entries} where entry.id in (${ids}))`)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
