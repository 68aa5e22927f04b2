import type { Em } from '#database/database.ts';
import { readSettings } from '#domain/settings/store.ts';
import { Unavailable } from '#domain/shared/errors.ts';
import {
  Limits,
  type QuotaScope,
  type QuotaSubject,
  quotaKindNames,
  quotaScopes,
} from '#domain/shared/vocabulary/quotas.ts';
import { type QuotaOwners, selectLimits, shareQuotas } from './store.ts';

/** The limits of one owner of something; null limits cannot be read. */
export interface OwnerLimits extends QuotaSubject {
  readonly limits: Limits | null;
}

/**
 * The limits of all owners that have any, from the nearest to the widest. They cannot change until the commit. Count the use afterwards,
 * under `lockUses`.
 */
export async function shareLimits(
  em: Em,
  { environmentId = null, teamId }: QuotaOwners,
): Promise<readonly OwnerLimits[]> {
  const owners = { environmentId, teamId };
  // These are separate statements, although they are sent together: a statement that waits for a lock sees the rows from before the wait.
  const [, rows, defaults] = await Promise.all([shareQuotas(em, owners), selectLimits(em, owners), readDefaults(em)]);
  const found = rows.map(({ scope, id, stored }) => ({ scope, id, limits: limitsOf(scope, stored, defaults) }));
  return found
    .filter(({ limits }) => limits === null || Object.values(limits).some((limit) => typeof limit === 'number'))
    .sort((one, other) => quotaScopes.indexOf(one.scope) - quotaScopes.indexOf(other.scope));
}

/** The stored limits of a scope, or else its default limits. Null if they cannot be read. */
function limitsOf(
  scope: QuotaScope,
  stored: { readonly limits: unknown } | null,
  defaults: Limits | null,
): Limits | null {
  return stored === null ? defaultsOf(scope, defaults) : readLimits(stored.limits);
}

/** The limits of a row; null if the row is damaged. */
export function readLimits(stored: unknown): Limits | null {
  const read = Limits.safeParse(stored);
  return read.success ? read.data : null;
}

const unlimited: Limits = {};

/** The default limits of the settings, for organizations and teams without a quota of their own. */
function defaultsOf(scope: QuotaScope, defaults: Limits | null): Limits | null {
  return scope === 'organization' || scope === 'team' ? defaults : unlimited;
}

/** The limits of an owner without a quota of its own; null if the settings cannot be read. */
export async function readDefaultLimits(em: Em, scope: QuotaScope): Promise<Limits | null> {
  return defaultsOf(scope, await readDefaults(em));
}

/** Removes kinds that only a later release knows. */
function knownOf(limits: Limits): Limits {
  return Object.fromEntries(quotaKindNames.map((kind) => [kind, limits[kind]]));
}

/** Returns null if the settings cannot be read, instead of an error: nothing new may begin then, but runs must still be able to end. */
async function readDefaults(em: Em): Promise<Limits | null> {
  try {
    return readLimits(knownOf((await readSettings(em)).document.default_quotas ?? {}));
  } catch (error) {
    if (error instanceof Unavailable) return null;
    throw error;
  }
}
