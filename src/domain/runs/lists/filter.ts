import type { Ownership } from '#domain/shared/access/decide.ts';
import { Invalid } from '#domain/shared/errors.ts';
import type { RunOperation, RunStatus } from '../model.ts';

/** Whose runs a list holds: those of one team (null: of no team), of an organization's teams, or all that its reader may read. */
export type RunScope =
  | { readonly kind: 'team'; readonly teamId: string | null }
  | { readonly kind: 'organization'; readonly organizationId: string }
  | { readonly kind: 'readable' };

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

/** An owner that a list names, and the query parameter that names it. */
export interface NamedOwner {
  readonly by: string;
  readonly owner: Ownership;
}

/**
 * Describes the first two named owners that no run can have together; null if all agree. The reader may read all of them.
 */
export function findContradiction(named: readonly NamedOwner[]): string | null {
  const [first, ...others] = named;
  for (const other of others) {
    if (first && !agree(first.owner, other.owner))
      return `${first.by}, ${other.by}: they have different owners, so no run fits both: leave one of them out`;
  }
  return null;
}

/** An organization agrees with each of its teams. */
function agree(one: Ownership, other: Ownership): boolean {
  if (one.organizationId !== other.organizationId) return false;
  return one.teamId === other.teamId || one.teamId === null || other.teamId === null;
}
