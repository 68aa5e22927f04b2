import type { FastifyReply } from 'fastify';
import { type Followed, followShown } from '#api/web/live/follow.ts';
import { readSchedule, type ScheduleDetails } from '#domain/schedules/store.ts';
import { get } from '../operations.ts';
import { viewSchedule } from '../views.ts';
import type { ListedSchedule, ScheduleVisit } from './schedule-view.ts';

/** Streams the changes of a schedule, and of what it started, to its page. */
export function streamScheduleChanges(visit: ScheduleVisit): Promise<FastifyReply> {
  const { params, context } = visit;
  const read = async () => toFollowed(await readSchedule(visit.em, params.id));
  return visit.stream(get, { params }, (signal) =>
    followShown(context.services.changeFeed, read, visit.query('mark'), signal),
  );
}

function toFollowed(schedule: ScheduleDetails | undefined): Followed | null {
  if (!schedule) return null;
  const shown = viewSchedule(schedule);
  const started = shown.last_results.flatMap(
    ({ run_id: run, assembly_run_id: assemblyRun }) => run ?? assemblyRun ?? [],
  );
  return { subjects: [schedule.id, ...started], mark: markOf(shown) };
}

/** Changes when the schedule is changed, when it loses its authority, or when one of its times gets another outcome. */
export function markOf({
  revision,
  paused_because: because,
  last_results: [last],
}: Pick<ListedSchedule, 'revision' | 'paused_because' | 'last_results'>): string {
  const at = last && new Date(last.last_at).getTime();
  return [revision, because, at, last?.outcome, last?.status].join(' ');
}
