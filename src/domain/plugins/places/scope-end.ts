import { hasSameOwners } from './owner-chain.ts';

/** Why a place cannot be used; null if it can. */
export type ScopeObstacle = 'deleted' | 'archived' | null;

/** The present state of a place. */
export interface ScopeStanding {
  /** Null: there is no such place. */
  readonly ownerChain: string | null;
  readonly obstacle: ScopeObstacle;
}

/** The changes of a place that end what was approved for it. */
export const scopeEnds = {
  scope_deleted: 'the place, or an owner of it, was deleted',
  scope_moved: 'the place was given to another owner',
  scope_archived: 'the place, or an owner of it, is archived',
  scope_restored: 'the place, or an owner of it, was archived, deleted or given away since, and put back',
} as const;
export type ScopeEndCode = keyof typeof scopeEnds;

/** How a place has changed; null if it has not. @param ownerChain the earlier owner chain */
export function findScopeEnd(ownerChain: string, now: ScopeStanding): ScopeEndCode | null {
  if (now.ownerChain === null || now.obstacle === 'deleted') return 'scope_deleted';
  if (!hasSameOwners(now.ownerChain, ownerChain)) return 'scope_moved';
  if (now.obstacle === 'archived') return 'scope_archived';
  return now.ownerChain === ownerChain ? null : 'scope_restored';
}
