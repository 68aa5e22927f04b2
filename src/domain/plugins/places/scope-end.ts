import type { ScopeStanding } from './scope-store.ts';

/** Why a scope is no longer what it was when something was approved for it. */
export const scopeEnds = {
  scope_deleted: 'the scope, or an owner of it, was deleted',
  scope_moved: 'the scope was given to another owner',
  scope_archived: 'the scope, or an owner of it, is archived',
  scope_restored: 'the scope, or an owner of it, was archived, deleted or given away since, and put back',
} as const;
export type ScopeEndCode = keyof typeof scopeEnds;

/** Why a scope is no longer what it was; null if it is. @param was its ids with their generations, as `Place.basis` has them */
export function findScopeEnd(was: string, { chain, obstacle }: ScopeStanding): ScopeEndCode | null {
  if (chain === null || obstacle === 'deleted') return 'scope_deleted';
  if (idsOf(chain) !== idsOf(was)) return 'scope_moved';
  if (obstacle === 'archived') return 'scope_archived';
  return chain === was ? null : 'scope_restored';
}

/** A chain has each id before its generation. */
function idsOf(chain: string): string {
  return chain
    .split(' ')
    .filter((_, index) => index % 2 === 0)
    .join(' ');
}
