import { Invalid } from '#domain/shared/errors.ts';
import { isTerminal, type RunOperation, type RunStatus, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingCode } from '#domain/shared/vocabulary/waiting.ts';

/** What narrows a list within its scope. */
export interface RunFilter {
  readonly environmentId?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly templateId?: string | undefined;
  readonly requestedBy?: string | undefined;
  /** Only runs that follow outputs which this run changed. */
  readonly startedByRunId?: string | undefined;
  /** Only runs that remediate this drift finding. */
  readonly driftFindingId?: string | undefined;
  readonly operation?: RunOperation | undefined;
  /** Any of them; undefined: every status. */
  readonly statuses?: readonly RunStatus[] | undefined;
  /** Only unfinished runs that wait for any of these. */
  readonly waitingOn?: readonly WaitingCode[] | undefined;
  /** Only runs that were admitted at this time or later. */
  readonly from?: Date | undefined;
  /** Only runs that were admitted before this time. */
  readonly to?: Date | undefined;
}

/**
 * The statuses that a list looks through, each by its index; null: all of them by one index. Only unfinished runs wait, and they are few,
 * so a list of what waits goes through their statuses instead of through all runs.
 */
export function statusesOf({ statuses, waitingOn }: RunFilter): readonly (RunStatus | null)[] {
  // The statuses have a fixed order, so that the same statuses always make the same statement.
  if (statuses) return runStatuses.filter((status) => statuses.includes(status));
  return waitingOn ? runStatuses.filter((status) => !isTerminal(status)) : [null];
}

/** @throws Invalid if the period is empty */
export function refuseEmptyPeriod({ from, to }: Pick<RunFilter, 'from' | 'to'>): void {
  if (from && to && from >= to) throw new Invalid('from, to: `from` must be before `to`, which is itself excluded');
}
