import type { Em } from '#database/database.ts';
import type { FreezeWindow } from '#domain/environments/freeze-windows.ts';
import type { EnvironmentTarget } from '#domain/environments/store.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, NotFound } from '#domain/shared/errors.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import { withoutMisleading } from '#domain/shared/values/human-name.ts';
import type { StoredHold } from '#domain/shared/vocabulary/holds.ts';
import { findHold, type Hold } from './holds.ts';
import { activeHold, type NewHold, toHold } from './model.ts';
import { findPause, saveFreezeWindows, saveLock } from './store.ts';

/**
 * Locks an environment; it replaces an earlier lock of the same principal. A request that names the present revision also replaces another
 * principal's lock, because its sender has seen that lock. The caller has locked the row. @throws Invalid, Conflict
 */
export async function lockEnvironment(
  tx: Transaction,
  environment: EnvironmentTarget,
  by: Principal,
  request: NewHold & { readonly expectedRevision?: number | undefined },
): Promise<EnvironmentTarget> {
  refuseArchived(environment);
  refuseStale(environment, request.expectedRevision);
  if (request.expectedRevision === undefined) refuseReplacement(environment.lock, by);
  const lock = toHold(request, by);
  await saveLock(tx.em, environment, lock);
  const { reason, until } = lock;
  publish(tx, environment, { type: 'environment.locked', data: { reason, until } });
  return readBack(findEnvironment(tx.em, environment.id));
}

function refuseReplacement(lock: StoredHold | null, { kind, id }: Principal): void {
  const active = activeHold(lock, new Date());
  if (!active || (active.by.type === kind && active.by.id === id)) return;
  const end = active.until === null ? 'it is unlocked' : active.until;
  // The reason must not change how the text after it appears.
  const reason = withoutMisleading(active.reason);
  throw new Conflict(
    `the environment is locked by ${active.by.name} until ${end} ("${reason}"): to replace that lock, send the revision of the environment as expected_revision`,
    'environment_locked',
  );
}

/** Ends the lock of an environment. The caller has locked the row. @throws NotFound if it is not locked */
export async function unlockEnvironment(tx: Transaction, environment: EnvironmentTarget): Promise<void> {
  if (!activeHold(environment.lock, new Date())) throw new NotFound('a lock of this environment');
  await saveLock(tx.em, environment, null);
  publish(tx, environment, { type: 'environment.unlocked', data: {} });
}

/** Replaces the freeze windows of an environment. The caller has locked the row. @throws Conflict */
export async function setFreezeWindows(
  tx: Transaction,
  environment: EnvironmentTarget,
  windows: readonly FreezeWindow[],
  expectedRevision: number | undefined,
): Promise<EnvironmentTarget> {
  refuseArchived(environment);
  refuseStale(environment, expectedRevision);
  await saveFreezeWindows(tx.em, environment, windows);
  const data = { windows: windows.map(({ name }) => name) };
  publish(tx, environment, { type: 'environment.freeze_windows_changed', data });
  return readBack(findEnvironment(tx.em, environment.id));
}

/** What keeps the applies of an environment from starting now, in the form of waiting runs; null if nothing does. */
export async function findEnvironmentHold(em: Em, environment: EnvironmentTarget): Promise<Hold | null> {
  const [hold = null] = await findEnvironmentHolds(em, [environment]);
  return hold;
}

/** `findEnvironmentHold` for several environments, in their order. */
export async function findEnvironmentHolds(
  em: Em,
  environments: readonly Pick<EnvironmentTarget, 'lock' | 'freezeWindows'>[],
): Promise<(Hold | null)[]> {
  const pause = (await findPause(em, false))?.pause ?? null;
  const now = new Date();
  return environments.map(({ lock, freezeWindows: windows }) => findHold({ pause, lock, windows }, now));
}

type HoldEvent = Pick<Parameters<Transaction['publish']>[0], 'type' | 'data'>;

function publish(tx: Transaction, { id, teamId, organizationId }: EnvironmentTarget, event: HoldEvent): void {
  tx.publish({ ...event, subjectId: id, owners: { teamId, organizationId } });
}
