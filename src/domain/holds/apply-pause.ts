import type { Em } from '#database/database.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import type { StoredHold } from '#domain/shared/vocabulary/holds.ts';
import { activeHold, type NewHold, toHold } from './model.ts';
import { findPause, savePause } from './store.ts';

/** The installation, with the pause of its applies. */
export interface PauseTarget extends Ownership, PauseState {
  readonly id: string;
}

/** Null: applies are not paused. The revision counts the changes of the pause. */
export interface PauseState {
  readonly pause: StoredHold | null;
  readonly revision: number;
}

/** The pause of all applies. With `lock`, the row of the installation is locked for a change. */
export async function findApplyPause(em: Em, lock: boolean): Promise<PauseTarget | undefined> {
  const found = await findPause(em, lock);
  return found && { ...installationOwnership, ...found, pause: activeHold(found.pause, new Date()) };
}

/**
 * Pauses all applies of the installation, in place of an earlier pause.
 * @throws Invalid; Conflict if somebody changed the pause since the revision that the request names
 */
export async function pauseApplies(
  tx: Transaction,
  target: PauseTarget,
  by: Principal,
  { expectedRevision, ...request }: NewHold & { readonly expectedRevision: number | undefined },
): Promise<PauseState> {
  refuseStale(target, expectedRevision);
  const pause = toHold(request, by);
  const revision = await savePause(tx.em, pause);
  const { reason, until } = pause;
  const data = { reason, until };
  tx.publish({ type: 'installation.applies_paused', subjectId: target.id, owners: { teamId: null }, data });
  return { pause, revision };
}

/** Ends the pause. @throws NotFound if applies are not paused; Conflict for a stale revision */
export async function resumeApplies(
  tx: Transaction,
  target: PauseTarget,
  expectedRevision: number | undefined,
): Promise<PauseState> {
  if (!target.pause) throw new NotFound('a pause of applies');
  refuseStale(target, expectedRevision);
  const revision = await savePause(tx.em, null);
  tx.publish({ type: 'installation.applies_resumed', subjectId: target.id, owners: { teamId: null }, data: {} });
  return { pause: null, revision };
}
