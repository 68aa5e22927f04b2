import { type Expression, type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { Compilable, ParameterOf } from '#database/queries.ts';
import { findUnderLock, type RowLock } from '#database/row-lock.ts';
import { type LookupById, prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { ArchivableLevel, ArchivedFilter } from '#domain/shared/archiving.ts';

/** Selects the levels that are archived. Pass the columns `archivedAt` of a resource and its owners, outermost first. */
export function archivedLevels(columns: { readonly [Level in ArchivableLevel]?: Expression<string | null> }) {
  const cases = Object.entries(columns).map(
    ([level, archivedAt]) => sql`case when ${archivedAt} is not null then ${sql.lit(level)} end`,
  );
  return sql<ArchivableLevel[]>`array_remove(array[${sql.join(cases)}]::text[], null)`;
}

/** The comparison of `archivedAt` with null for a list of either active or archived resources. */
export function archivedComparison({ archived }: ArchivedFilter): 'is' | 'is not' {
  return archived ? 'is not' : 'is';
}

/**
 * Makes a lookup by id that builds its query once for each kind of lock. The lookup finds a row that was transferred while it
 * waited for a lock (`findUnderLock`).
 */
export function prepareLookup<Row extends object>(
  build: (db: Kysely<Tables>, id: string, lock: RowLock) => Compilable<Row>,
): LockingLookup<Row> {
  const prepareWith = (lock: RowLock) =>
    prepare((db, parameter: ParameterOf<{ id: string }>) => build(db, parameter('id'), lock));
  const query = prepareWith(false);
  const queries = new Map<RowLock, typeof query>([
    [false, query],
    [true, prepareWith(true)],
    ['change', prepareWith('change')],
  ]);
  const find = (em: Em, id: string, lock: RowLock = false) =>
    findUnderLock(lock, async () => (await queries.get(lock)?.(em, { id }))?.[0]);
  return Object.assign(find, { query });
}

/** A lookup by id that may lock what it finds. */
export interface LockingLookup<Row> extends LookupById<Row> {
  (em: Em, id: string, lock?: RowLock): Promise<Row | undefined>;
}
