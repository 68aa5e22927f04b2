import type { ListOwner } from '#domain/shared/ownership-graph/list-owners.ts';

/** Whose runs a list contains: those of one team (null: of no team), of an organization's teams, or all that its reader may read. */
export type RunScope =
  | { readonly kind: 'team'; readonly teamId: string | null }
  | { readonly kind: 'organization'; readonly organizationId: string }
  | { readonly kind: 'readable' };

/**
 * The scope of a list: the runs of the owner that its filters name. Without such a filter, all runs that its reader may read if `scope` is
 * `readable`, else the runs of no team.
 */
export function toScope({ organizationId, teamId, named }: ListOwner, scope: 'readable' | undefined): RunScope {
  if (named.length === 0) return scope === 'readable' ? { kind: 'readable' } : { kind: 'team', teamId: null };
  if (teamId === null && organizationId !== null) return { kind: 'organization', organizationId };
  return { kind: 'team', teamId };
}
