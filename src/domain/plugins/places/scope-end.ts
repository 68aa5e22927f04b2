import { hasSameOwners } from './owner-chain.ts';

/** What keeps a place from being used; null if nothing does. */
export type ScopeObstacle = 'deleted' | 'archived' | null;

/** A place as it is now. */
export interface ScopeStanding {
  /** Null: there is no such place. */
  readonly ownerChain: string | null;
  readonly obstacle: ScopeObstacle;
}

/** Why a place is no longer what it was when something was approved for it. */
export const scopeEnds = {
  scope_deleted: 'the place, or an owner of it, was deleted',
  scope_moved: 'the place was given to another owner',
  scope_archived: 'the place, or an owner of it, is archived',
  scope_restored: 'the place, or an owner of it, was archived, deleted or given away since, and put back',
} as const;
export type ScopeEndCode = keyof typeof scopeEnds;

/** Why a place is no longer what it was; null if it is. @param ownerChain what it was */
export function findScopeEnd(ownerChain: string, now: ScopeStanding): ScopeEndCode | null {
  if (now.ownerChain === null || now.obstacle === 'deleted') return 'scope_deleted';
  if (!hasSameOwners(now.ownerChain, ownerChain)) return 'scope_moved';
  if (now.obstacle === 'archived') return 'scope_archived';
  return now.ownerChain === ownerChain ? null : 'scope_restored';
}
