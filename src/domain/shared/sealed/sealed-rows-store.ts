import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { declaredTables } from '#domain/db.ts';
import type { SealedColumn } from './sealed-column.ts';

export type SealedRow = Readonly<Record<string, unknown>>;

/** How many values were sealed by another key than the one whose seals begin with `header`. */
export async function countOldSeals(em: Em, { table, column }: SealedColumn, header: Buffer): Promise<number> {
  const { count } = await declaredTables(em)
    .selectFrom(table)
    .where(isOld(column, header))
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Locks some of the rows with an old seal that come after a row, in the order of their keys. Rows that others have locked are left out, and
 * are found in the next pass.
 */
export function lockOldSeals(
  em: Em,
  { table, column, key, from = [] }: SealedColumn,
  { header, after, limit }: { header: Buffer; after: SealedRow | undefined; limit: number },
): Promise<SealedRow[]> {
  const columns = [...new Set([...key, ...from, column])];
  const rows = declaredTables(em)
    .selectFrom(table)
    .where(isOld(column, header))
    .$if(after !== undefined, (query) =>
      query.where(
        sql<SqlBool>`(${sql.join(key.map((each) => sql.ref(each)))}) > (${sql.join(key.map((each) => after?.[each]))})`,
      ),
    )
    .select(columns);
  return key
    .reduce((query, each) => query.orderBy(sql.ref(each)), rows)
    .limit(limit)
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
}

export async function writeSeal(
  em: Em,
  { table, column, key }: SealedColumn,
  row: SealedRow,
  sealed: Buffer,
): Promise<void> {
  await declaredTables(em)
    .updateTable(table)
    .set({ [column]: sealed })
    .where((eb) => eb.and(key.map((each) => eb(each, '=', row[each]))))
    .execute();
}

function isOld(column: string, header: Buffer): Expression<SqlBool> {
  return sql<SqlBool>`substring(${sql.ref(column)} from 1 for ${sql.lit(header.length)}) <> ${header}`;
}
