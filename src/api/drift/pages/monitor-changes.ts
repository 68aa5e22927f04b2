import type { FastifyReply } from 'fastify';
import { type Followed, followShown } from '#api/web/live/follow.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type MonitorDetails, readMonitor } from '#domain/drift/monitors/list-store.ts';
import { get } from '../monitor-operations.ts';
import { toMonitor } from '../views.ts';

/** Streams the changes of a monitor and of its current scan to its page. */
export function streamMonitorChanges(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  const { params, context } = visit;
  const read = async () => toFollowed(await readMonitor(visit.em, params.id));
  return visit.stream(get, { params }, (signal) =>
    followShown(context.services.changeFeed, read, visit.query('mark'), signal),
  );
}

function toFollowed(monitor: MonitorDetails | undefined): Followed | null {
  if (!monitor) return null;
  const shown = toMonitor(monitor);
  return { subjects: [shown.id, ...(shown.scan_run_id ? [shown.scan_run_id] : [])], mark: markOf(shown) };
}

interface Marked {
  readonly revision: number;
  readonly scan_run_id: string | null;
  readonly last_scan_at: Date | string | null;
}

/** Changes when the monitor is changed, or when a scan begins or ends. */
export function markOf({ revision, scan_run_id: scan, last_scan_at: last }: Marked): string {
  return [revision, scan, last && new Date(last).getTime()].join(' ');
}
