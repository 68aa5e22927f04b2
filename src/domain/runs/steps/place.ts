import type { Em } from '#database/database.ts';
import { findNoPlace, type NoPlace, type PlaceSeeker, wakeNext } from '#domain/quotas/use/places.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { QuotaBlocker } from '#domain/shared/vocabulary/quotas.ts';
import { findQuotaBlocker } from '#domain/shared/vocabulary/waiting.ts';
import type { Run } from '../entity.ts';

/** Applies the quotas on runs that execute at once: a run takes a place under each quota, and frees it when it ends or waits for people. */

export function placeSeekerOf({ id, status, environmentId = null, teamId = null }: Run): PlaceSeeker {
  return { id, status, environmentId, teamId };
}

/** The quota that has no place for a run that would begin or continue; null for a run that has a place or needs none. */
export async function findMissingPlace(em: Em, run: Run, canceled: boolean): Promise<NoPlace | null> {
  const needsOne = !canceled && !run.isScan() && run.status !== 'canceling' && !run.hasPlace();
  return needsOne ? findNoPlace(em, placeSeekerOf(run)) : null;
}

/** Whether a run had a place before a step, and which quota it waited for. */
export interface PlaceBefore {
  readonly hadPlace: boolean;
  readonly blocker: QuotaBlocker | null;
}

export function notePlace(run: Run): PlaceBefore {
  return { hadPlace: run.hasPlace(), blocker: findQuotaBlocker(run.waitingOn) };
}

/** Wakes others if a step has freed the place of a run, or if the run no longer waits for the same quota. */
export async function passPlaceOn(tx: Transaction, run: Run, { hadPlace, blocker }: PlaceBefore): Promise<void> {
  if (run.isFinished()) return; // `finishRun` has woken them.
  if (hadPlace && !run.hasPlace()) return wakeNext(tx, placeSeekerOf(run), 'all');
  const now = findQuotaBlocker(run.waitingOn);
  if (!blocker || (now?.scope === blocker.scope && now.id === blocker.id)) return;
  await tx.em.flush();
  await wakeNext(tx, placeSeekerOf(run), blocker);
}
