import { sql } from 'kysely';
import type { IndexGroup } from '#domain/shared/paging/index-range.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { type RunFilter, statusesOf } from './filter.ts';

/**
 * The indexes of runs that begin with a column by which a filter selects. Those whose values usually have the fewest runs come first. An
 * index without scans is no use for a list of scans.
 */
const filterIndexes = [
  { selectedBy: 'startedByRunId', column: 'startedByRunId', hasScans: true },
  { selectedBy: 'driftFindingId', column: 'driftFindingId', hasScans: true },
  { selectedBy: 'instanceId', column: 'instanceId', hasScans: true },
  { selectedBy: 'requestedBy', column: 'requestedById', hasScans: false },
  { selectedBy: 'environmentId', column: 'environmentId', hasScans: true },
  { selectedBy: 'templateId', column: 'templateId', hasScans: false },
] as const;

/** A range of an index that contains all runs of a filter. */
export interface FilterRange {
  readonly column: `runs.${(typeof filterIndexes)[number]['column']}`;
  readonly group: IndexGroup;
  /** What the filter demands besides. If a condition repeated the column, PostgreSQL would ignore the column in the order. */
  readonly others: RunFilter;
}

/**
 * The index range of a filter that selects by an instance, a person or the like. Null if the filter does not, or only lists unfinished runs,
 * which are few.
 */
export function rangeOfFilter(filter: RunFilter): FilterRange | null {
  const isUnfinished = statusesOf(filter).every((status) => status !== null && !isTerminal(status));
  if (isUnfinished) return null;
  for (const { selectedBy, column, hasScans } of filterIndexes) {
    const value = filter[selectedBy];
    if (value === undefined || (filter.operation === 'scan' && !hasScans)) continue;
    const name = `runs.${column}` as const;
    const group = { columns: [name], values: [sql`${value}::uuid`], id: 'runs.id' };
    return { column: name, group, others: { ...filter, [selectedBy]: undefined } };
  }
  return null;
}
