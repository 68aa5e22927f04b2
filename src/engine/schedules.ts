import { createHash } from 'node:crypto';
import {
  type CalendarSpec,
  type Client,
  DAYS_OF_WEEK,
  MONTHS,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  type ScheduleSpec,
} from '@temporalio/client';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { EngineSchedule } from '#domain/shared/events/outbox.ts';
import { type CronFields, parseCron } from '#domain/shared/schedules/cron.ts';
import { ForeignWorkflow, installationMemo } from './installation-memo.ts';
import { coordinatorQueue } from './queues.ts';

/** The engine skips a time that it missed by more than this, because it was down. */
const catchupWindow = '1 minute';
/** The time limit of the workflow of a start, so that it does not keep the next time from starting. */
const startWithin = '1 hour';

type Identity = { readonly client: Client; readonly installationId: string };

/** Creates a schedule, or changes the one that exists. Repeating it is harmless. */
export async function upsertSchedule(
  { client, installationId }: Identity,
  scheduleId: string,
  schedule: EngineSchedule,
): Promise<void> {
  const options = toOptions(installationId, scheduleId, schedule);
  try {
    await client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec, action, policies = {}, state = {} } = options;
    await client.schedule.getHandle(scheduleId).update(({ memo }) => {
      if (memo?.[installationMemo] !== installationId) throw new ForeignWorkflow(scheduleId, 'schedule');
      return { spec, action, policies, state };
    });
  }
}

/** Deletes a schedule. What it has started continues. Returns `gone` if there is no such schedule. */
export async function deleteSchedule(
  { client, installationId }: Identity,
  scheduleId: string,
): Promise<'delivered' | 'gone'> {
  const handle = client.schedule.getHandle(scheduleId);
  try {
    const { memo } = await handle.describe();
    if (memo?.[installationMemo] !== installationId) throw new ForeignWorkflow(scheduleId, 'schedule');
    await handle.delete();
    return 'delivered';
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return 'gone';
    throw error;
  }
}

/** A schedule of this installation, as the engine lists it. The list may be some seconds late. */
export interface ListedSchedule {
  readonly kind: string;
  readonly id: string;
  readonly digest: string;
}

/** The schedules of this installation. */
export async function listSchedules({ client, installationId }: Identity): Promise<ListedSchedule[]> {
  const found: ListedSchedule[] = [];
  for await (const { memo, state } of client.schedule.list({ pageSize: 1_000 })) {
    if (memo?.[installationMemo] !== installationId) continue;
    found.push({ kind: String(memo['kind']), id: String(memo['id']), digest: state.note ?? '' });
  }
  return found;
}

/** A digest that distinguishes schedules. The engine stores it as the note of the schedule. */
export function digestOf(schedule: EngineSchedule): string {
  return createHash('sha256').update(canonicalJson(schedule)).digest('hex').slice(0, 32);
}

function toOptions(installationId: string, scheduleId: string, schedule: EngineSchedule): ScheduleOptions {
  const { workflow, input, jitterSeconds, isPaused } = schedule;
  const memo = { [installationMemo]: installationId, ...input };
  return {
    scheduleId,
    spec: { ...toSpec(schedule), jitter: jitterSeconds * 1000 },
    action: {
      type: 'startWorkflow',
      workflowType: workflow,
      workflowId: scheduleId,
      taskQueue: coordinatorQueue,
      args: [input],
      memo,
      workflowExecutionTimeout: startWithin,
    },
    policies: { overlap: 'SKIP', catchupWindow },
    memo,
    state: { paused: isPaused, note: digestOf(schedule) },
  };
}

function toSpec({ times }: EngineSchedule): ScheduleSpec {
  if ('everySeconds' in times) {
    return { intervals: [{ every: times.everySeconds * 1000, offset: times.offsetSeconds * 1000 }] };
  }
  return { calendars: [toCalendar(parseCron(times.cron))], timezone: nameOfZone(times.timezone) };
}

function toCalendar({ month, dayOfWeek, ...fields }: CronFields): CalendarSpec {
  return {
    minute: [...fields.minute],
    hour: [...fields.hour],
    dayOfMonth: [...fields.dayOfMonth],
    month: MONTHS.filter((_, index) => month.includes(index + 1)),
    dayOfWeek: DAYS_OF_WEEK.filter((_, index) => dayOfWeek.includes(index)),
  };
}

/** The engine distinguishes capitals in names of zones, which Intl does not. */
function nameOfZone(timeZone: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone;
}
