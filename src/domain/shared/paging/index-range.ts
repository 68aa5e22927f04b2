import { type Expression, type SqlBool, sql } from 'kysely';
import { maxId, zeroId } from '../ids.ts';

/** Columns that begin an index, and which value each of them must have. The index ends with the column `id`. */
export interface IndexGroup {
  readonly columns: readonly string[];
  readonly values: readonly Expression<unknown>[];
  readonly id: string;
}

/** A range of ids: from `from` (inclusive) to `before` (exclusive). */
export interface IdRange {
  readonly from?: string | undefined;
  readonly before?: string | undefined;
}

/**
 * The condition that a row is in a group, as one range of the group's index. Together with `orderOfGroup` PostgreSQL can only read that
 * range, newest first. If the columns were compared one by one, it might instead walk through all ids and keep the rows of the group,
 * because it expects groups to be of equal size. For a team with ten runs next to a team with a million, that takes seconds. A row whose
 * column is null is in no group.
 */
export function inIndexGroup({ columns, values, id }: IndexGroup, { from, before }: IdRange = {}) {
  const row = sql`(${sql.join([...columns, id].map((column) => sql.ref(column)))})`;
  const place = (end: string) => sql`(${sql.join([...values, sql`${end}::uuid`])})`;
  return sql<SqlBool>`(${row} >= ${place(from ?? zeroId)} and ${row} < ${place(before ?? maxId)})`;
}

/** The order of a group's index, newest first. */
export function orderOfGroup({ columns, id }: IndexGroup) {
  return sql.join([...columns, id].map((column) => sql`${sql.ref(column)} desc`));
}
