import { Invalid } from '#domain/shared/errors.ts';
import type { RunOperation, RunStatus } from '../model.ts';

/** What narrows a list within its scope. */
export interface RunFilter {
  readonly environmentId?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly templateId?: string | undefined;
  readonly requestedBy?: string | undefined;
  readonly operation?: RunOperation | undefined;
  /** Any of them; undefined: every status. */
  readonly statuses?: readonly RunStatus[] | undefined;
  /** Only runs that were admitted at this time or later. */
  readonly from?: Date | undefined;
  /** Only runs that were admitted before this time. */
  readonly to?: Date | undefined;
}

/** @throws Invalid if no time is in the period */
export function refuseEmptyPeriod({ from, to }: Pick<RunFilter, 'from' | 'to'>): void {
  if (from && to && from >= to) throw new Invalid('from, to: `from` must be before `to`, which is itself excluded');
}
