import { AuthorityEnded, findStoredPrincipal, lostAuthorities } from '#domain/identity/stored-authority.ts';
import { QuotaExceeded } from '#domain/quotas/errors.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { FeatureDisabled, Forbidden, ServiceError, Unauthenticated } from '#domain/shared/errors.ts';
import { defineScheduledWork, planWork, type ScheduledWorkDeps } from '#domain/shared/schedules/scheduled-work.ts';
import type { Schedule } from './entity.ts';
import { type Firing, findOutcome, isStillRunning, keepFiring } from './history/firings-store.ts';
import { publishFiring } from './history/publish-firing.ts';
import { type FiringReason, firingReasons, scheduleKind } from './model.ts';
import { listPlanned, lockPlanned } from './planned-store.ts';
import { planOf } from './schedule-changes.ts';
import { startWork } from './start-work.ts';
import { findSchedule, isElsewhere, lockSchedule } from './store.ts';

/** How long a start is retried after an unexpected error. */
const retriedForMs = 10 * 60_000;

/**
 * Starts the work of a schedule at one of its times, unless its earlier work has not ended. A refusal is recorded in its history. Nothing
 * happens if the schedule has been deleted, archived with its owner, or paused since.
 * @throws any temporary error: the engine tries again
 */
export async function fireSchedule(deps: ScheduledWorkDeps, id: string, scheduledAt: Date): Promise<void> {
  const schedule = await begin(deps, id, scheduledAt);
  if (!schedule) return;
  try {
    const principal = await deps.transactions.run(({ em }) => findStoredPrincipal(em, schedule));
    await startWork(deps, schedule, scheduledAt, principal);
  } catch (error) {
    const failure = toFailure(error, scheduledAt);
    if (!failure) throw error;
    if (failure.reason === 'internal')
      deps.log.error({ err: error, schedule_id: id }, 'could not start scheduled work');
    await end(deps, id, { scheduledAt, outcome: 'failed', ...failure });
  }
}

/** The schedule, if its work is to be started now; else null. */
async function begin({ transactions }: ScheduledWorkDeps, id: string, scheduledAt: Date): Promise<Schedule | null> {
  return transactions.run(async (tx) => {
    const target = await findSchedule(tx.em, id, true);
    if (!target) return null;
    const { schedule } = target;
    const outcome = await findOutcome(tx.em, id, scheduledAt);
    const isOver = outcome !== undefined && outcome !== 'pending';
    if (isOver || (target.archived.length > 0 && !outcome) || (!schedule.isEnabled && !outcome)) return null;
    if (isElsewhere(target)) return pauseForNewOwner(tx, schedule, scheduledAt);
    if (!(await isStillRunning(tx.em, id))) return schedule;
    const skipped = { scheduledAt, outcome: 'skipped', reason: 'still_running' } as const;
    await keepFiring(tx.em, { scheduleId: id, ...skipped, message: firingReasons.still_running });
    publishFiring(tx, schedule, skipped);
    return null;
  });
}

/** Pauses a schedule after a transfer: nobody of the new owner has requested the work, and the earlier owner has no rights there. */
async function pauseForNewOwner(tx: Transaction, schedule: Schedule, scheduledAt: Date): Promise<null> {
  schedule.isEnabled = false;
  schedule.revision += 1;
  await tx.em.flush();
  planWork(tx, scheduleKind, planOf(schedule));
  const failed = { scheduledAt, outcome: 'failed', reason: 'owner_changed' } as const;
  await keepFiring(tx.em, { scheduleId: schedule.id, ...failed, message: firingReasons.owner_changed });
  publishFiring(tx, schedule, failed);
  return null;
}

async function end({ transactions }: ScheduledWorkDeps, id: string, firing: Omit<Firing, 'scheduleId'>): Promise<void> {
  await transactions.run(async (tx) => {
    const schedule = await lockSchedule(tx.em, id);
    if (!schedule) return;
    await keepFiring(tx.em, { scheduleId: id, ...firing });
    publishFiring(tx, schedule, firing);
  });
}

/** Why nothing was started; undefined if trying again may help. */
function toFailure(error: unknown, scheduledAt: Date): { reason: FiringReason; message: string } | undefined {
  const of = (reason: FiringReason) => ({ reason, message: firingReasons[reason] });
  if (error instanceof AuthorityEnded) return of(lostAuthorities[error.reason]);
  if (error instanceof FeatureDisabled) return { reason: 'feature_disabled', message: error.message };
  if (error instanceof Forbidden || error instanceof Unauthenticated) return of('not_permitted');
  if (error instanceof QuotaExceeded) return { reason: 'refused', message: error.message };
  const mayPass = !(error instanceof ServiceError) || error.kind === 'unavailable' || error.kind === 'limited';
  if (!mayPass) return { reason: 'refused', message: error.message };
  return Date.now() - scheduledAt.getTime() > retriedForMs ? of('internal') : undefined;
}

/** The work that the schedules of teams start. */
export const scheduleWork = defineScheduledWork({
  kind: scheduleKind,
  listPlanned,
  lockPlanned,
  trigger: fireSchedule,
});
