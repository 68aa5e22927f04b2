import { z } from 'zod';
import { actionsOf } from '#api/pipeline/actions.ts';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { RunOptionsView, viewOptions } from '#api/runs/views.ts';
import { viewWaitingCode, WaitingCodeView } from '#api/runs/waiting-code-view.ts';
import { assemblyOperations } from '#domain/assemblies/model.ts';
import { firingOutcomes, firingReasons, pauseReasons, type ShownWork } from '#domain/schedules/model.ts';
import type { FiringDetails, ScheduleDetails, ScheduleTarget } from '#domain/schedules/store.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import { nextTimes } from '#domain/shared/schedules/next-times.ts';
import { requestedOperations, runStatuses } from '#domain/shared/vocabulary/runs.ts';

/** What a caller may do with a schedule. A start also requires that the environment of the work is not archived. */
export const scheduleActions = actionsOf<ScheduleTarget>()({
  update: { operation: 'schedules.update', findRefusal: findArchivedRefusal },
  trigger: {
    operation: 'schedules.trigger',
    findRefusal: ({ archivedForWork: archived }) => findArchivedRefusal({ archived }),
  },
  delete: { operation: 'schedules.delete' },
});

/** The number of next times in an answer. */
const shownTimes = 5;

const variables = z.record(z.string(), z.unknown()).describe('Secret values are masked as `{"sensitive": true}`.');

const WorkView = z.union([
  z.object({
    run: z.object({
      template_id: AnswerId,
      environment_id: AnswerId.nullable(),
      version: z.string().nullable(),
      instance: z.string().nullable(),
      operation: z.enum(requestedOperations),
      replace: z.array(z.string()),
      options: RunOptionsView.omit({ replace: true }),
      variables,
      variables_from: z
        .enum(['deployed'])
        .nullable()
        .describe('`deployed`: variables that are not named are as the instance is deployed at each start.'),
      omit: z.array(z.string()).describe('Variables of the deployment that are not taken over.'),
      message: z.string(),
    }),
  }),
  z.object({
    assembly_run: z.object({
      assembly_id: AnswerId,
      environment_id: AnswerId,
      version: z.string(),
      operation: z.enum(assemblyOperations),
      only: z.array(z.string()).nullable(),
      variables,
      message: z.string(),
    }),
  }),
]);

const ResultView = z.object({
  scheduled_at: Time.describe('The time of the schedule; the first one where `times` is more than one.'),
  last_at: Time.describe('The last of these times.'),
  times: z.int().describe('How many times in a row ended like this. Only times that started nothing share a result.'),
  outcome: z
    .enum(firingOutcomes)
    .describe(
      '`skipped`: what it started before had not ended. `pending`: a start was requested that has not happened yet. `missed`: nothing ' +
        'tried to start it at its time.',
    ),
  reason: z.enum(Object.keys(firingReasons) as [keyof typeof firingReasons]).nullable(),
  message: z.string().nullable().describe('Why nothing was started, for people.'),
  run_id: AnswerId.nullable(),
  assembly_run_id: AnswerId.nullable(),
  status: z.enum(runStatuses).nullable().describe('The present status of what was started.'),
  status_reason: z.string().nullable().describe('Why what was started ended without success.'),
  waiting_on: WaitingCodeView.nullable().describe('What the run that was started waits for.'),
  requested_by: z.string().nullable().describe('Who asked for the start; null at a time of the schedule.'),
});

/** A schedule in a list, with its latest result. */
export const ListedScheduleView = z
  .object({
    id: AnswerId,
    team_id: AnswerId,
    name: z.string(),
    schedule: z.union([z.object({ every: z.string() }), z.object({ cron: z.string(), timezone: z.string() })]),
    work: WorkView,
    enabled: z.boolean().describe('`false`: it is paused, by people or because of `paused_because`.'),
    paused_because: z
      .enum(pauseReasons)
      .nullable()
      .describe(
        'Why it starts nothing although no person paused it. `owner_changed`: a transfer brought it to another owner, who must save its work to ' +
          'resume it. All others: its authority has ended, and it resumes when its work is saved again, or when an authority that is disabled ' +
          'is enabled.',
      ),
    authority: z
      .object({ type: z.enum(['user', 'service_account', 'background', 'system']), id: AnswerId, name: z.string() })
      .describe('Who saved the work last. It runs as them, with the permissions that they have at the time.'),
    next_times: z
      .array(Time)
      .describe('The next five times; none while it is paused, or its team or environment archived.'),
    last_results: z
      .array(ResultView)
      .describe('The outcomes of its last times, newest first: up to 20, and one in a list.'),
    revision: z.int(),
    created_at: Time,
  })
  .meta({ id: 'ListedSchedule' });

/** A single schedule. */
export const ScheduleView = ListedScheduleView.extend({ actions: scheduleActions.view }).meta({
  id: 'Schedule',
});

export function viewSchedule(schedule: ScheduleDetails): z.input<typeof ListedScheduleView> {
  const { id, spec } = schedule;
  const isEnabled = schedule.isEnabled && schedule.pausedBecause === null;
  const times = isEnabled && !schedule.isArchived ? nextTimes(spec, id, new Date(), shownTimes) : [];
  return answerOf(ListedScheduleView.shape, {
    ...schedule,
    schedule: spec,
    work: viewWork(schedule.work),
    enabled: isEnabled,
    authority: { type: schedule.authorityType, id: schedule.authorityId, name: schedule.authorityName },
    nextTimes: times.map((time) => time.toISOString()),
    lastResults: schedule.results.map(viewResult),
  });
}

export function viewWork(work: ShownWork): z.input<typeof WorkView> {
  const { environmentId, variables: shown, message } = work;
  const common = { variables: shown, message };
  if (work.kind === 'run') {
    const { templateId, version, instance, replace } = work;
    const { replace: _replace, ...options } = viewOptions(work.options, []);
    const named = { template_id: templateId, environment_id: environmentId, version, instance };
    const start = { variables_from: work.variablesFrom ?? null, omit: [...(work.omit ?? [])] };
    return { run: { ...named, operation: work.operation, replace: [...replace], options, ...start, ...common } };
  }
  const { assemblyId, version, only } = work;
  const named = { assembly_id: assemblyId, environment_id: work.environmentId, version };
  return { assembly_run: { ...named, operation: work.operation, only: only && [...only], ...common } };
}

function viewResult(result: FiringDetails): z.input<typeof ResultView> {
  return answerOf(ResultView.shape, { ...result, waitingOn: viewWaitingCode(result.waitingOn) });
}
