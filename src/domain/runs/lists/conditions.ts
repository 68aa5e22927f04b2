import { type Expression, type SqlBool, sql } from 'kysely';
import { firstIdAt } from '#domain/shared/ids.ts';
import type { IdRange } from '#domain/shared/paging/index-range.ts';
import { isTerminal, type RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingCode } from '#domain/shared/vocabulary/waiting.ts';
import type { OverRun } from '../details-store.ts';
import type { RunFilter } from './filter.ts';

/** A filter's conditions on single columns; statuses and the period have functions of their own. */
export function filterConditions(eb: OverRun, filter: RunFilter): Expression<SqlBool>[] {
  const { environmentId, instanceId, templateId, requestedBy, operation } = filter;
  const conditions: Expression<SqlBool>[] = [eb('runs.deletedAt', 'is', null)];
  if (environmentId !== undefined) conditions.push(eb('runs.environmentId', '=', environmentId));
  if (instanceId !== undefined) conditions.push(eb('runs.instanceId', '=', instanceId));
  if (templateId !== undefined) conditions.push(eb('runs.templateId', '=', templateId));
  if (filter.startedByRunId !== undefined) conditions.push(eb('runs.startedByRunId', '=', filter.startedByRunId));
  if (filter.driftFindingId !== undefined) conditions.push(eb('runs.driftFindingId', '=', filter.driftFindingId));
  if (requestedBy !== undefined) conditions.push(eb('runs.requestedById', '=', requestedBy));
  // Scans may run every hour, so lists contain them only on request, and the indexes of the other runs leave them out.
  if (operation !== 'scan') conditions.push(eb('runs.operation', '<>', sql.lit('scan' as const)));
  if (operation !== undefined) conditions.push(eb('runs.operation', '=', sql.lit(operation)));
  if (filter.waitingOn !== undefined) conditions.push(...waitingConditions(eb, filter.waitingOn));
  // The indexes by operation omit applies; this condition lets PostgreSQL use them.
  if (operation !== undefined && operation !== 'apply')
    conditions.push(eb('runs.operation', '<>', sql.lit('apply' as const)));
  return conditions;
}

/** The condition that a run has not ended and waits for one of these reasons. */
function waitingConditions(eb: OverRun, codes: readonly WaitingCode[]): Expression<SqlBool>[] {
  const code = eb.ref('runs.waitingOn', '->>').key('code');
  return [eb('runs.finishedAt', 'is', null), eb(code, 'in', codes)];
}

/** The condition that a run was admitted in a period. */
export function periodConditions(eb: OverRun, { from, to }: Pick<RunFilter, 'from' | 'to'>): Expression<SqlBool>[] {
  return [
    ...(from ? [eb('runs.createdAt', '>=', from.toISOString())] : []),
    ...(to ? [eb('runs.createdAt', '<', to.toISOString())] : []),
  ];
}

/**
 * The id and the time of admission of a run come from two readings of the clock. They may differ because the admission waits for locks or
 * the clock is corrected, but always by less than this.
 */
const clockToleranceMs = 60 * 60_000;

/** The same period as a range of ids, a little wider: lists are ordered by id, so it is a range of their indexes. */
export function idRangeOf({ from, to }: Pick<RunFilter, 'from' | 'to'>): IdRange {
  const at = (time: Date, tolerance: number) => firstIdAt(new Date(time.getTime() + tolerance));
  return { from: from && at(from, -clockToleranceMs), before: to && at(to, clockToleranceMs) };
}

/**
 * The condition that a run has a status. Each index by status covers either finished or unfinished runs, so the condition states which of
 * them the status means. The status is a literal in the statement, because PostgreSQL needs it to estimate how rare it is.
 */
export function statusConditions(eb: OverRun, status: RunStatus): Expression<SqlBool>[] {
  return [eb('runs.status', '=', sql.lit(status)), eb('runs.finishedAt', isTerminal(status) ? 'is not' : 'is', null)];
}
