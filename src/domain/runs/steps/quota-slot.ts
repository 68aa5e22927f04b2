import type { Em } from '#database/database.ts';
import { type FullQuota, findQuotaWithoutSlot, type SlotRequest, wakeNext } from '#domain/quotas/use/slots.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { QuotaBlocker } from '#domain/shared/vocabulary/quotas.ts';
import { findQuotaBlocker } from '#domain/shared/vocabulary/waiting.ts';
import type { Run } from '../entity.ts';

/** Applies the quotas on runs that execute at once: a run takes a slot of each quota, and frees it when it ends or waits for people. */

export function slotRequestOf({ id, status, environmentId = null, teamId = null }: Run): SlotRequest {
  return { id, status, environmentId, teamId };
}

/** The full quota that keeps a run from beginning or continuing; null for a run that has a slot or needs none. */
export async function findMissingSlot(em: Em, run: Run, canceled: boolean): Promise<FullQuota | null> {
  const needsOne = !canceled && !run.isScan() && run.status !== 'canceling' && !run.usesQuotaSlot();
  return needsOne ? findQuotaWithoutSlot(em, slotRequestOf(run)) : null;
}

/** Whether a run had a slot before a step, and which quota it waited for. */
export interface SlotBefore {
  readonly hadSlot: boolean;
  readonly blocker: QuotaBlocker | null;
}

export function noteSlot(run: Run): SlotBefore {
  return { hadSlot: run.usesQuotaSlot(), blocker: findQuotaBlocker(run.waitingOn) };
}

/** Wakes others if a step has freed the slot of a run, or if the run no longer waits for the same quota. */
export async function releaseQuotaSlot(tx: Transaction, run: Run, { hadSlot, blocker }: SlotBefore): Promise<void> {
  if (run.isFinished()) return; // `finishRun` has woken them.
  if (hadSlot && !run.usesQuotaSlot()) return wakeNext(tx, slotRequestOf(run), 'all');
  const now = findQuotaBlocker(run.waitingOn);
  if (!blocker || (now?.scope === blocker.scope && now.id === blocker.id)) return;
  await tx.em.flush();
  await wakeNext(tx, slotRequestOf(run), blocker);
}
