import type { Em } from '#database/database.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { QuotaBlocker, QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';
import { wakeSignal } from '#domain/shared/vocabulary/runs.ts';
import type { QuotaState } from '../errors.ts';
import { shareLimits } from '../limits/limits.ts';
import type { QuotaOwners } from '../limits/store.ts';
import { noteUse } from './crossings.ts';
import { countAhead, findFirstWaiting } from './places-store.ts';
import { lockUses } from './take.ts';
import { countUse } from './usage-store.ts';

/** Assigns slots under the quotas on runs that execute at once. Waiting runs get slots in the order of their queue. */

const kind = 'concurrent_runs';

export interface SlotRequest extends QuotaOwners {
  readonly id: string;
  readonly status: string;
}

/** The quota that has no slot for a run, and how many runs wait for it before this one. */
export interface FullQuota {
  readonly blocker: QuotaBlocker;
  readonly position: number;
}

/**
 * Why a run must wait for a slot; null if it may take one before the commit. The transaction holds the locks of these quotas until then. A
 * quota that cannot be read has no slot.
 */
export async function findQuotaWithoutSlot(em: Em, run: SlotRequest): Promise<FullQuota | null> {
  const limited = await lockPlaces(em, run);
  for (const { scope, id, limit } of limited) {
    if (limit === null) return { blocker: { scope, id, kind, limit, used: null }, position: 0 };
    const [used, ahead] = await Promise.all([countUse(em, { scope, id }, kind), countAhead(em, { scope, id }, run)]);
    if (used + ahead >= limit) return { blocker: { scope, id, kind, limit, used }, position: ahead };
  }
  return null;
}

/** Reports that a run begins to wait for a slot. The transaction must still hold the locks of `findQuotaWithoutSlot`. */
export async function reportFullQuota(tx: Transaction, { limit, used, ...blocker }: QuotaBlocker): Promise<void> {
  if (limit !== null && used !== null) await noteUse(tx, { ...blocker, limit, used }, true);
}

/** Which runs to wake: `all` that wait for a slot of any owner of the run, or those that wait for the one quota for which it waited. */
export type Freed = 'all' | QuotaSubject;

/** Wakes the first run that waits for each slot that a run has freed, or for which it no longer waits. */
export async function wakeNext(tx: Transaction, run: SlotRequest, freed: Freed): Promise<void> {
  const limited = await lockPlaces(tx.em, run);
  const isFreed = ({ scope, id }: QuotaSubject) => freed === 'all' || (freed.scope === scope && freed.id === id);
  const freedPlaces = limited.filter(isFreed);
  // If the quota no longer exists, all runs that waited for it may continue.
  const subjects = freed !== 'all' && freedPlaces.length === 0 ? [{ ...freed, limit: null }] : freedPlaces;
  for (const { scope, id, limit } of subjects) {
    const used = limit === null ? 0 : await countUse(tx.em, { scope, id }, kind);
    if (limit !== null && used >= limit) continue;
    if (limit !== null) await noteUse(tx, { scope, id, kind, limit, used }, false);
    await wakeFirst(tx, { scope, id });
  }
}

/** Wakes the first run that waits for a slot. If it takes one, it wakes the next. */
export async function wakeFirst(tx: Transaction, subject: QuotaSubject): Promise<void> {
  const workflowId = await findFirstWaiting(tx.em, subject);
  if (workflowId !== undefined) tx.notifyEngine(workflowId, { kind: 'signal', signal: wakeSignal });
}

/** The limits of slots, locked; null for a quota that cannot be read. */
async function lockPlaces(
  em: Em,
  owners: QuotaOwners,
): Promise<readonly (Pick<QuotaState, 'scope' | 'id'> & { limit: number | null })[]> {
  const all = await shareLimits(em, owners);
  const limited = all.flatMap(({ scope, id, limits }) => {
    const limit = limits === null ? null : limits[kind];
    return limit === undefined || (limits !== null && limit === null) ? [] : [{ scope, id, limit }];
  });
  await lockUses(
    em,
    limited.map(({ scope, id }) => ({ scope, id, kind })),
  );
  return limited;
}
