import { type Expression, type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { Compilable, ParameterOf } from '#database/queries.ts';
import { findUnderLock, type RowLock } from '#database/row-lock.ts';
import { prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { ArchivedFilter } from './archiving.ts';
import type { TenantLevel } from './model.ts';

/** The levels that are archived, in the order in which their columns `archived_at` are given: outermost first. */
export function archivedLevels(columns: { readonly [Level in TenantLevel]?: Expression<string | null> }) {
  const cases = Object.entries(columns).map(
    ([level, archivedAt]) => sql`case when ${archivedAt} is not null then ${sql.lit(level)} end`,
  );
  return sql<TenantLevel[]>`array_remove(array[${sql.join(cases)}]::text[], null)`;
}

/** How a list compares `archived_at` with null: it shows either what is active or what is archived. */
export function archivedComparison({ archived }: ArchivedFilter): 'is' | 'is not' {
  return archived === 'true' ? 'is not' : 'is';
}

/**
 * A lookup by id, which builds its query once for each way to lock. It looks once again where a transfer took place while
 * it waited for a lock.
 */
export function prepareLookup<Row extends object>(
  build: (db: Kysely<Tables>, id: string, lock: RowLock) => Compilable<Row>,
): (em: Em, id: string, lock?: RowLock) => Promise<Row | undefined> {
  const prepareWith = (lock: RowLock) =>
    prepare((db, parameter: ParameterOf<{ id: string }>) => build(db, parameter('id'), lock));
  const queries = new Map(([false, true, 'change'] as const).map((lock) => [lock, prepareWith(lock)]));
  return (em, id, lock = false) => findUnderLock(lock, async () => (await queries.get(lock)?.(em, { id }))?.[0]);
}
