import type { Em } from '#database/database.ts';
import { startAssemblyRun } from '#domain/assemblies/runs/admission/start.ts';
import { findStartTarget, requireEnvironment } from '#domain/assemblies/runs/targets.ts';
import { answeredFor, findStoredPrincipal } from '#domain/identity/stored-authority.ts';
import { admitRun } from '#domain/runs/admission/admission.ts';
import { findAdmissionTarget } from '#domain/runs/admission/target.ts';
import type { RunAuthor } from '#domain/runs/model.ts';
import { decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { CommandChange } from '#domain/shared/audit.ts';
import { runCommand } from '#domain/shared/commands/command.ts';
import { serviceKeyOf } from '#domain/shared/commands/service-key.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Forbidden, Unprocessable } from '#domain/shared/errors.ts';
import { refuseClosed } from '#domain/shared/features/gates.ts';
import type { ScheduledWorkDeps } from '#domain/shared/schedules/scheduled-work.ts';
import { workAuthority } from './authority.ts';
import type { Schedule } from './entity.ts';
import { findAuthors, findOutcome, isStillRunning, keepFiring } from './history/firings-store.ts';
import { publishFiring } from './history/publish-firing.ts';
import { type AssemblyWork, type FiringReason, type RunWork, scheduleKind, type Work } from './model.ts';
import { findPauseReason } from './pause-store.ts';
import { findSchedule, lockSchedule } from './store.ts';
import { openWork, resolveWork } from './work.ts';

/** The work of a schedule, with its owners, locked. */
type Found = Ownership & { readonly start: (tx: Transaction, starter: Starter) => Promise<Started> };

interface Starter {
  readonly key: string;
  readonly principal: Principal;
  /** Who answers for the start besides the authority of the schedule. */
  readonly authors: readonly RunAuthor[];
}

interface Started {
  readonly id: string;
  readonly revision: number;
}

/**
 * Starts the work of one time under the authority of the schedule, by the same command as a request of that principal. A repeated call
 * for the same time has the same key, so it finds the receipt of the first.
 * @throws ServiceError if the work is refused, or if schedules or assemblies are turned off
 */
export async function startWork(
  deps: ScheduledWorkDeps,
  schedule: Schedule,
  scheduledAt: Date,
  caller: Principal,
): Promise<void> {
  const { transactions, bindingKey, keyRing } = deps;
  const work = openWork(keyRing, schedule);
  const key = serviceKeyOf(bindingKey, ['scheduled work', scheduleKind, schedule.id, scheduledAt.toISOString()]);
  const isRun = work.kind === 'run';
  const command = {
    key,
    caller,
    operation: 'schedules.start',
    audit: isRun
      ? { action: 'run.created', resourceType: 'runs' }
      : { action: 'assembly_run.created', resourceType: 'assembly_runs' },
    target: { schedule: schedule.id },
    input: { at: scheduledAt.toISOString() },
    locks: [],
    request: { requestId: null, address: null },
  };
  await runCommand<Found | undefined, CommandChange, never>(transactions, bindingKey, command, {
    find: (tx) => (work.kind === 'run' ? findRunTarget(tx, deps, work) : findAssemblyTarget(tx, deps, work)),
    act: async (tx, current, found) => {
      const principal = answeredFor(current, schedule);
      refuseForeign(found, schedule, work, principal);
      refuseClosed('schedules', principal.closedFeatures);
      if (!isRun) refuseClosed('assemblies', principal.closedFeatures);
      const locked = await lockUnchanged(tx, schedule, scheduledAt);
      const askers = await findAuthors(tx.em, schedule.id, scheduledAt);
      const authors = locked.timesAuthor ? [locked.timesAuthor, ...askers] : askers;
      const started = await found.start(tx, { key, principal, authors });
      const ids = isRun ? { runId: started.id } : { assemblyRunId: started.id };
      await keepFiring(tx.em, { scheduleId: schedule.id, scheduledAt, outcome: 'started', ...ids });
      publishFiring(tx, locked, { scheduledAt, outcome: 'started', ...ids });
      const after = { operation: work.operation, scheduleId: schedule.id };
      return { id: started.id, after, revision: started.revision };
    },
  });
}

/** The schedule was changed after it was read. The engine tries again, and reads it again. */
class ScheduleMoved extends Error {}

/**
 * Locks the schedule, so that its work starts neither after somebody has changed it nor while work of another time has just started.
 * @throws ScheduleMoved if it was changed or deleted, if another time has started its work, or if the history says that this time was
 * missed
 */
async function lockUnchanged({ em }: Transaction, { id, revision }: Schedule, scheduledAt: Date): Promise<Schedule> {
  const locked = await lockSchedule(em, id);
  if (locked?.revision !== revision) throw new ScheduleMoved(`the schedule ${id} was changed while its work started`);
  if (await isStillRunning(em, id)) throw new ScheduleMoved(`the schedule ${id} has just started its work`);
  if ((await findOutcome(em, id, scheduledAt)) === 'missed')
    throw new ScheduleMoved(`a time of the schedule ${id} was given up`);
  return locked;
}

/** @throws Forbidden or Unprocessable unless the work still has the owners for whom it was saved, and the principal may start it */
function refuseForeign(
  found: Found | undefined,
  { teamId, savedForTeamId, savedForOrganizationId }: Schedule,
  work: Work,
  principal: Principal,
): asserts found is Found {
  const isOwn = found?.teamId === savedForTeamId && found.organizationId === savedForOrganizationId;
  if (!isOwn || savedForTeamId !== teamId) {
    throw new Unprocessable(
      'the template, assembly or environment of the work was deleted, or belongs to another team or organization now: save other work',
      { code: 'schedule_work_unknown' },
    );
  }
  if (!decide(principal, workAuthority(work), found).allowed) throw new Forbidden();
}

async function findRunTarget(tx: Transaction, deps: ScheduledWorkDeps, work: RunWork): Promise<Found | undefined> {
  const { templateId, environmentId } = work;
  const target = await findAdmissionTarget(tx.em, { templateId, environmentId: environmentId ?? undefined }, true);
  if (!target) return undefined;
  const instance = work.instance ?? target.templateSlug;
  const { organizationId, teamId } = target;
  return {
    organizationId,
    teamId,
    start: (tx, { key, principal, authors }) => {
      const resolve = () => resolveWork(tx, deps, target, { work, isStart: true }, principal);
      return admitRun(tx, key, target, { instance, resolve }, principal, { authors });
    },
  };
}

async function findAssemblyTarget(
  tx: Transaction,
  deps: ScheduledWorkDeps,
  work: AssemblyWork,
): Promise<Found | undefined> {
  const target = await findStartTarget(tx.em, work, true);
  if (!target) return undefined;
  const { organizationId, teamId } = target;
  return {
    organizationId,
    teamId,
    start: async (tx, { key, principal, authors }) => {
      const request = { ...work, only: work.only ?? undefined };
      const wanted = { key, target: requireEnvironment(target), request, authors };
      return startAssemblyRun(tx, deps, wanted, principal);
    },
  };
}

/** Why the authority of a schedule does not let it start its work now; null if it does. */
export async function findStartRefusal(em: Em, id: string): Promise<FiringReason | null> {
  const target = await findSchedule(em, id);
  if (!target) return null;
  const because = await findPauseReason(em, id);
  if (because) return because;
  const principal = await findStoredPrincipal(em, target.schedule);
  return decide(principal, workAuthority(target.schedule.work), target).allowed ? null : 'not_permitted';
}
