import type { Em } from '#database/database.ts';
import { Limits, type QuotaScope, type QuotaSubject, quotaScopes } from '../model.ts';
import { type QuotaOwners, selectLimits, shareQuotas } from './store.ts';

/** The limits that hold for one owner of something; null limits cannot be read. */
export interface OwnerLimits extends QuotaSubject {
  readonly limits: Limits | null;
}

/**
 * The limits of all owners that have any, from the nearest to the widest. They stay as they are until the commit. What they limit must be
 * counted later, under `lockUse`.
 */
export async function shareLimits(
  em: Em,
  { environmentId = null, teamId }: QuotaOwners,
): Promise<readonly OwnerLimits[]> {
  const owners = { environmentId, teamId };
  // Sent together, and still two statements: one that waits for a lock sees what was there before it waited.
  const [, rows] = await Promise.all([shareQuotas(em, owners), selectLimits(em, owners)]);
  const found = rows.map(({ scope, id, stored }) => ({ scope, id, limits: limitsOf(scope, stored) }));
  return found
    .filter(({ limits }) => limits === null || Object.keys(limits).length > 0)
    .sort((one, other) => quotaScopes.indexOf(one.scope) - quotaScopes.indexOf(other.scope));
}

/** The stored limits of a scope, or those that hold where none are stored. Null if the stored ones cannot be read. */
function limitsOf(scope: QuotaScope, stored: { readonly limits: unknown } | null): Limits | null {
  return stored === null ? defaultLimits(scope) : readLimits(stored.limits);
}

/** The limits of a row; null if somebody has damaged it. */
export function readLimits(stored: unknown): Limits | null {
  const read = Limits.safeParse(stored);
  return read.success ? read.data : null;
}

const unlimited: Limits = {};

/** The limits of an owner without a quota of its own. */
function defaultLimits(_scope: QuotaScope): Limits {
  return unlimited;
}
