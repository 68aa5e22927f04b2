import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { afterId, type Page, type PageRequest, toPage } from '#domain/shared/paging.ts';

/** A scan as the readers of its monitor see it. Times are strings. */
export type ScanDetails = Awaited<ReturnType<typeof selectScans>>[number];

/** The scans of a monitor, newest first. */
export async function listScans(em: Em, monitorId: string, request: PageRequest): Promise<Page<ScanDetails>> {
  return toPage(await selectScans(em, monitorId, request), request);
}

function selectScans(em: Em, monitorId: string, request: PageRequest) {
  const after = afterId(request);
  return db(em)
    .selectFrom('drift_scans as s')
    .innerJoin('runs as r', 'r.id', 's.run_id')
    .where('s.monitor_id', '=', monitorId)
    .$if(after !== null, (query) => query.where('s.run_id', '<', after ?? ''))
    .select([
      's.run_id as id',
      's.trigger',
      'r.status',
      's.found',
      's.ignored',
      's.opened',
      's.resolved',
      's.failing_checks as failingChecks',
      's.created_at as createdAt',
      'r.finished_at as finishedAt',
      's.recorded_at as recordedAt',
    ])
    .select((eb) => eb.fn.coalesce('s.reason', 'r.status_reason').as('reason'))
    .orderBy('s.run_id', 'desc')
    .limit(request.limit + 1)
    .execute();
}
