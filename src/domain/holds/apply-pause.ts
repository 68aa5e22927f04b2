import type { Em } from '#database/database.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { activeHold, type NewHold, type StoredHold, toHold } from './model.ts';
import { findPause, savePause } from './store.ts';

/** The installation, with the pause of its applies. */
export interface PauseTarget extends Ownership {
  readonly id: string;
  /** Null: applies are not paused. */
  readonly pause: StoredHold | null;
}

/** The pause of all applies. With `lock`, the row of the installation is locked for a change. */
export async function findApplyPause(em: Em, lock: boolean): Promise<PauseTarget | undefined> {
  const found = await findPause(em, lock);
  return found && { ...installationOwnership, id: found.id, pause: activeHold(found.pause, new Date()) };
}

/** Pauses all applies of the installation, in place of an earlier pause. @throws Invalid */
export async function pauseApplies(
  tx: Transaction,
  { id: subjectId }: PauseTarget,
  by: Principal,
  request: NewHold,
): Promise<StoredHold> {
  const pause = toHold(request, by);
  await savePause(tx.em, pause);
  const { reason, until } = pause;
  tx.publish({ type: 'installation.applies_paused', subjectId, owners: { teamId: null }, data: { reason, until } });
  return pause;
}

/** Ends the pause. @throws NotFound if applies are not paused */
export async function resumeApplies(tx: Transaction, { id: subjectId, pause }: PauseTarget): Promise<void> {
  if (!pause) throw new NotFound('a pause of applies');
  await savePause(tx.em, null);
  tx.publish({ type: 'installation.applies_resumed', subjectId, owners: { teamId: null }, data: {} });
}
