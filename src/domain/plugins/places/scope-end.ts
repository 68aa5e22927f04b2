import { hasSameOwners } from './owner-chain.ts';
import type { ScopeStanding } from './scope-store.ts';

/** Why a scope is no longer what it was when something was approved for it. */
export const scopeEnds = {
  scope_deleted: 'the scope, or an owner of it, was deleted',
  scope_moved: 'the scope was given to another owner',
  scope_archived: 'the scope, or an owner of it, is archived',
  scope_restored: 'the scope, or an owner of it, was archived, deleted or given away since, and put back',
} as const;
export type ScopeEndCode = keyof typeof scopeEnds;

/** Why a scope is no longer what it was; null if it is. @param ownerChain what it was */
export function findScopeEnd(ownerChain: string, now: ScopeStanding): ScopeEndCode | null {
  if (now.ownerChain === null || now.obstacle === 'deleted') return 'scope_deleted';
  if (!hasSameOwners(now.ownerChain, ownerChain)) return 'scope_moved';
  if (now.obstacle === 'archived') return 'scope_archived';
  return now.ownerChain === ownerChain ? null : 'scope_restored';
}
