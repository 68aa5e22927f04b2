import type { Em } from '#database/database.ts';
import { takeAdvisoryLocksInOrder } from '#domain/shared/access/authority-lock.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { type QuotaKind, type QuotaSubject, subjectName } from '#domain/shared/vocabulary/quotas.ts';
import { QuotaExceeded, type QuotaState, QuotaUnreadable } from '../errors.ts';
import { shareLimits } from '../limits/limits.ts';
import type { QuotaOwners } from '../limits/store.ts';
import { noteUses } from './crossings.ts';
import { countUses } from './usage-store.ts';

/**
 * How much of each kind a command has just added. 0: it will later add an unknown number of bytes. It is then refused if the limit is
 * already reached, and may otherwise write any number.
 */
export type Added = { readonly [Kind in QuotaKind]?: number };

/**
 * Checks that a command exceeds no quota of an owner. Call it after the rows were written or sent, because it counts them. It takes locks
 * until the commit, after all locks of rows, so that two concurrent commands cannot exceed a limit together.
 * @throws QuotaExceeded for the first exceeded quota, in the order from the nearest owner to the widest
 * @throws QuotaUnreadable if a limit or its use cannot be read
 */
export async function takeQuota(tx: Transaction, owners: QuotaOwners, added: Added): Promise<void> {
  const limited = await findLimited(tx.em, owners, added);
  const counted = limited.filter(({ by }) => by > 0);
  await lockUses(tx.em, counted);
  const uses = await countUses(tx.em, limited);
  const states = limited.map((each, index) => ({ ...each, used: uses[index] ?? Number.NaN }));
  for (const { by, ...state } of states) refuseExceeded(state, by);
  await noteUses(
    tx,
    states.filter(({ by }) => by > 0),
  );
}

interface Limited extends QuotaSubject {
  readonly kind: QuotaKind;
  readonly limit: number;
  readonly by: number;
}

async function findLimited(em: Em, owners: QuotaOwners, added: Added): Promise<Limited[]> {
  const all = await shareLimits(em, owners);
  const kinds = Object.entries(added) as [QuotaKind, number][];
  return all.flatMap(({ scope, id, limits }) => {
    if (limits === null) throw new QuotaUnreadable({ scope, id }, 'quota');
    return kinds.flatMap(([kind, by]) => {
      const limit = limits[kind] ?? null;
      return limit === null ? [] : [{ scope, id, kind, limit, by }];
    });
  });
}

/**
 * Locks kinds of quotas until the commit, so that one transaction at a time counts and uses them. The locks are taken in the order of the
 * list.
 */
export function lockUses(em: Em, uses: readonly (QuotaSubject & { readonly kind: QuotaKind })[]): Promise<void> {
  return takeAdvisoryLocksInOrder(
    em,
    uses.map(({ kind, ...subject }) => `quotas/${subjectName(subject)}/${kind}`),
  );
}

/** Refuses a use beyond the limit. `used` already contains what was added. */
function refuseExceeded({ scope, id, kind, limit, used }: QuotaState, by: number): void {
  refuseImpossible({ scope, id }, used);
  if (by > 0 ? used <= limit : used < limit) return;
  throw new QuotaExceeded({ scope, id, kind, limit, used: used - by });
}

/** Refuses an impossible use, such as a sum of bytes below zero. */
export function refuseImpossible(subject: QuotaSubject, used: number): void {
  if (!Number.isFinite(used) || used < 0) throw new QuotaUnreadable(subject, 'usage');
}
