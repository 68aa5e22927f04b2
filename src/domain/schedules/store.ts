import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { lockForChange } from '#database/row-lock.ts';
import type { RowOf } from '#database/tables.ts';
import { db, type Over } from '#domain/db.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { Archivable, ArchivableLevel } from '#domain/shared/archiving.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import { findTeamById } from '#domain/teams/store.ts';
import { Schedule } from './entity.ts';
import type { FiringOutcome, FiringReason } from './model.ts';
import { selectPauseReason } from './pause-store.ts';
import { showWorks } from './views/work-view.ts';

/** A schedule with the team that owns it. */
export interface ScheduleTarget extends Ownership, Archivable {
  readonly organizationId: string;
  readonly teamId: string;
  readonly schedule: Schedule;
  /** The archived levels of the team or of the environment of the work. While there are any, nothing starts. */
  readonly archivedForWork: readonly ArchivableLevel[];
}

/** A schedule by its id; undefined if it or its owner is deleted. With `lock` it locks the rows of the owner, then its own. */
export async function findSchedule(em: Em, id: string, lock = false): Promise<ScheduleTarget | undefined> {
  const known = await em.findOne(Schedule, { id });
  const team = known && (await findTeamById(em, known.teamId, lock));
  const schedule = team && lock ? await lockSchedule(em, id) : known;
  if (!team || !schedule) return undefined;
  const { organizationId, teamId, archived } = team;
  const environment = schedule.environmentId ? await findEnvironment(em, schedule.environmentId) : undefined;
  return { organizationId, teamId, archived, schedule, archivedForWork: environment?.archived ?? archived };
}

/** Whether a transfer has given the schedule other owners than when it was saved. Then it starts nothing. */
export function isElsewhere({ organizationId, teamId, schedule }: ScheduleTarget): boolean {
  if (schedule.voidSince) return true;
  return organizationId !== schedule.savedForOrganizationId || teamId !== schedule.savedForTeamId;
}

/** Locks the row until the commit, and reads it. */
export function lockSchedule(em: Em, id: string): Promise<Schedule | null> {
  return lockForChange(em, Schedule, { id });
}

/** A firing as the readers of its schedule see it. */
export interface FiringDetails {
  readonly id: string;
  readonly scheduledAt: string;
  readonly outcome: FiringOutcome;
  readonly reason: FiringReason | null;
  readonly message: string | null;
  readonly times: number;
  /** The last of these times. */
  readonly lastAt: string;
  readonly runId: string | null;
  readonly assemblyRunId: string | null;
  /** The status of the started run; null if nothing was started, or if the run was deleted. */
  readonly status: RunStatus | null;
  /** Why the started run ended without success. */
  readonly statusReason: string | null;
  readonly waitingOn: WaitingOn | null;
  readonly requestedBy: string | null;
}

export type ScheduleDetails = RowOf<typeof selectSchedules>;

export interface ScheduleFilter {
  readonly teamId: string | undefined;
  readonly organizationId: string | undefined;
  readonly environmentId: string | undefined;
  readonly templateId: string | undefined;
  readonly assemblyId: string | undefined;
  /** The principal under whose authority it starts work. */
  readonly authorityId: string | undefined;
  /** The API key or the session with which its work was saved. */
  readonly credentialId: string | undefined;
  readonly enabled: boolean | undefined;
}

/** How many firings are shown if a single schedule is read. */
const shownFirings = 20;

/** A page of the schedules that a principal may read: those of its teams. */
export async function listSchedules(
  em: Em,
  principal: Principal,
  { teamId, organizationId, environmentId, templateId, assemblyId, authorityId, credentialId, enabled }: ScheduleFilter,
  request: PageRequest,
): Promise<Page<ScheduleDetails>> {
  const schedules = selectSchedules(em, 1)
    .where((eb) => isInReadableTeam(principal, eb.ref('s.teamId'), 'hidden'))
    .$if(teamId !== undefined, (query) => query.where('s.teamId', '=', teamId ?? ''))
    .$if(organizationId !== undefined, (query) => query.where('o.id', '=', organizationId ?? ''))
    .$if(environmentId !== undefined, (query) => query.where('s.environmentId', '=', environmentId ?? ''))
    .$if(templateId !== undefined, (query) => query.where('s.templateId', '=', templateId ?? ''))
    .$if(assemblyId !== undefined, (query) => query.where('s.assemblyId', '=', assemblyId ?? ''))
    .$if(authorityId !== undefined, (query) => query.where('s.authorityId', '=', authorityId ?? ''))
    .$if(credentialId !== undefined, (query) => query.where('s.credentialId', '=', credentialId ?? ''))
    .$if(enabled !== undefined, (query) =>
      query.where((eb) => {
        const isStarting = eb.and([eb.ref('s.isEnabled'), eb(selectPauseReason(eb), 'is', null)]);
        return enabled ? isStarting : eb.not(isStarting);
      }),
    );
  const page = await pageOf(schedules, 's.id', request);
  return { ...page, items: await showWorks(em, page.items) };
}

/** One schedule; the caller has decided that it may be read. */
export async function readSchedule(em: Em, id: string): Promise<ScheduleDetails | undefined> {
  const [schedule] = await showWorks(em, await selectSchedules(em, shownFirings).where('s.id', '=', id).execute());
  return schedule;
}

function selectSchedules(em: Em, results: number) {
  return db(em)
    .selectFrom('schedules as s')
    .innerJoin('teams as t', 't.id', 's.teamId')
    .innerJoin('organizations as o', 'o.id', 't.organizationId')
    .leftJoin('environments as e', 'e.id', 's.environmentId')
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .where('t.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .select((eb) => {
      const archived = (['o', 't', 'p', 'e'] as const).map((owner) => eb(`${owner}.archivedAt`, 'is not', null));
      // Whether its team, or the environment of its work, or one of their owners is archived. Then nothing starts.
      return [eb.or(archived).$castTo<boolean>().as('isArchived'), selectPauseReason(eb).as('pausedBecause')];
    })
    .select(['s.id', 's.teamId', 's.environmentId', 's.name', 's.spec', 's.work'])
    .select(['s.isEnabled', 's.authorityId', 's.authorityType'])
    .select(['s.authorityName', 's.revision', 's.createdAt'])
    .select((eb) => selectResults(eb, results).as('results'));
}

function selectResults(eb: Over<{ s: 'schedules' }>, limit: number) {
  return jsonArrayFrom(
    eb
      .selectFrom('schedule_firings as f')
      .leftJoin('runs as r', 'r.id', 'f.runId')
      .leftJoin('assembly_runs as a', 'a.id', 'f.assemblyRunId')
      .whereRef('f.scheduleId', '=', 's.id')
      .select(['f.id', 'f.scheduledAt', 'f.times', 'f.outcome', 'f.reason', 'f.message'])
      .select((of) => of.fn.coalesce('f.lastAt', 'f.scheduledAt').as('lastAt'))
      .select(['f.runId', 'f.assemblyRunId', 'f.requesterName as requestedBy'])
      .select((of) => of.fn.coalesce('r.status', 'a.status').$castTo<RunStatus | null>().as('status'))
      .select((of) => of.fn.coalesce('r.statusReason', 'a.statusReason').as('statusReason'))
      .select('r.waitingOn')
      .orderBy('f.scheduledAt', 'desc')
      .limit(limit),
  ).$castTo<FiringDetails[]>();
}
