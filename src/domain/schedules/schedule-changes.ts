import { storedAuthorityOf } from '#domain/identity/stored-authority.ts';
import type { ResolveDeps } from '#domain/runs/admission/run-request.ts';
import type { RunAuthor } from '#domain/runs/model.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { findDifference, refuseStale } from '#domain/shared/revisions.ts';
import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import { dropWork, type PlannedWork, planWork, scheduledWorkflow } from '#domain/shared/schedules/scheduled-work.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { Schedule } from './entity.ts';
import { findFreeTime, keepFiring } from './history/firings-store.ts';
import { firingReasons, type PauseReason, scheduleKind, type Work } from './model.ts';
import { findPauseReason } from './pause-store.ts';
import type { ScheduleTarget } from './store.ts';
import { checkWork, sealWork } from './work.ts';

export interface NewSchedule {
  readonly name: string;
  readonly spec: ScheduleSpec;
  readonly work: Work;
  readonly isEnabled: boolean;
}

/** Fields that are absent stay as they are. */
export interface ScheduleChange {
  readonly name?: string | undefined;
  readonly spec?: ScheduleSpec | undefined;
  readonly work?: Work | undefined;
  readonly isEnabled?: boolean | undefined;
  readonly expectedRevision?: number | undefined;
}

/** The refusal to resume a schedule that a transfer or the end of its authority has paused, until its work is saved again. */
class WorkNotSaved extends Conflict {
  constructor(because: PauseReason) {
    super(`the schedule cannot be resumed as it is: ${firingReasons[because]}`, 'schedule_not_saved');
  }
}

/** The random delay, in seconds, that spreads the starts of many schedules with the same time. */
const jitterSeconds = 5;

/** The plan by which the engine starts the work of a schedule. */
export function planOf({ id, spec, isEnabled }: Pick<Schedule, 'id' | 'spec' | 'isEnabled'>): PlannedWork {
  return { id, spec, jitterSeconds, isPaused: !isEnabled };
}

/** Creates a schedule of a team, whose row the caller has locked. It starts work under the authority of its author. */
export async function createSchedule(
  tx: Transaction,
  deps: ResolveDeps,
  team: TeamTarget,
  { work, ...wanted }: NewSchedule,
  author: Principal,
): Promise<Schedule> {
  refuseArchived(team);
  const id = newId();
  const schedule = tx.em.create(Schedule, {
    ...wanted,
    id,
    teamId: team.teamId,
    accountedUntil: new Date(),
    ...(await describeWork(tx, deps, { id, owner: team, work }, author)),
  });
  tx.em.persist(schedule);
  await tx.em.flush();
  planWork(tx, scheduleKind, planOf(schedule));
  return schedule;
}

/**
 * Changes the fields that are present. If the work is present, even unchanged, it starts under the author's authority from now on. The
 * caller has locked the row.
 */
export async function updateSchedule(
  tx: Transaction,
  deps: ResolveDeps,
  target: ScheduleTarget,
  { expectedRevision, work, ...wanted }: ScheduleChange,
  author: Principal,
): Promise<void> {
  const { schedule } = target;
  refuseArchived(target);
  refuseStale(schedule, expectedRevision);
  const because = await findPauseReason(tx.em, schedule.id);
  if (because && wanted.isEnabled && !work) throw new WorkNotSaved(because);
  const { name, spec } = schedule;
  // After a transfer, a schedule stays paused until somebody resumes it, even if its work is saved.
  const isEnabled = schedule.isEnabled && because !== 'owner_changed';
  const { after, isEmpty } = findDifference({ name, spec, isEnabled: schedule.isEnabled }, wanted);
  if (isEmpty && !work) return;
  const isResumed = wanted.isEnabled === true && !isEnabled;
  Object.assign(schedule, { isEnabled, ...after, ...(isResumed && { isEnabled: true }) });
  if (after.spec || isResumed || (because && work)) schedule.accountedUntil = new Date();
  if (after.spec || after.isEnabled !== undefined || isResumed)
    schedule.timesAuthor = authorOf(author, 'you changed when the schedule starts its work');
  if (work && isOfOther(schedule, author)) schedule.timesAuthor ??= firstAuthorOf(schedule);
  if (work) Object.assign(schedule, await describeWork(tx, deps, { id: schedule.id, owner: target, work }, author));
  schedule.revision += 1;
  await tx.em.flush();
  planWork(tx, scheduleKind, planOf(schedule));
}

/** Deletes a schedule with its history. The work that it has started continues. The caller has locked the row. */
export async function deleteSchedule(
  tx: Transaction,
  { schedule }: ScheduleTarget,
  expectedRevision: number | undefined,
): Promise<number> {
  refuseStale(schedule, expectedRevision);
  await tx.em.remove(schedule).flush();
  dropWork(tx, scheduleKind, schedule.id);
  return schedule.revision;
}

/**
 * Makes the engine start the work now, under the authority of the schedule. The requester of the start may not approve what is started. The
 * caller has locked the row.
 */
export async function triggerSchedule(
  tx: Transaction,
  target: ScheduleTarget,
  key: string,
  requester: Principal,
): Promise<Date> {
  refuseArchived({ archived: target.archivedForWork });
  const { id } = target.schedule;
  const scheduledAt = await findFreeTime(tx.em, id, new Date());
  const author = authorOf(requester, 'you started the schedule');
  await keepFiring(tx.em, { scheduleId: id, scheduledAt, outcome: 'pending', requestedBy: requester.name, author });
  const input = { kind: scheduleKind, id, scheduled_at: scheduledAt.toISOString() };
  tx.notifyEngine(key, { kind: 'start', workflow: scheduledWorkflow, input });
  return scheduledAt;
}

function isOfOther({ authorityId }: Schedule, author: Principal): boolean {
  return authorityId !== author.id;
}

/** The author of the times if nobody has changed them: the principal who saved the work. */
function firstAuthorOf({ authorityId: id, responsibleUserId: person }: Schedule): RunAuthor {
  return { id, person: person ?? null, because: 'you set when the schedule starts its work' };
}

function authorOf({ id, responsibleUserId: person }: Principal, because: string): RunAuthor {
  return { id, person, because };
}

type Owner = Pick<ScheduleTarget, 'organizationId' | 'teamId'>;

async function describeWork(
  tx: Transaction,
  deps: ResolveDeps,
  { id, owner, work }: { id: string; owner: Owner; work: Work },
  author: Principal,
) {
  return {
    work: await checkWork(tx, deps, { teamId: owner.teamId, work }, author),
    sealedWork: sealWork(deps.keyRing, id, work),
    environmentId: work.environmentId,
    templateId: work.kind === 'run' ? work.templateId : null,
    assemblyId: work.kind === 'run' ? null : work.assemblyId,
    authorityType: author.kind,
    authorityName: author.name,
    ...storedAuthorityOf(author),
    savedForOrganizationId: owner.organizationId,
    savedForTeamId: owner.teamId,
    voidSince: null,
  };
}
