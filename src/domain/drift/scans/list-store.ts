import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { afterId, type Page, type PageRequest, toPage } from '#domain/shared/paging/paging.ts';

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
    .innerJoin('runs as r', 'r.id', 's.runId')
    .where('s.monitorId', '=', monitorId)
    .$if(after !== null, (query) => query.where('s.runId', '<', after ?? ''))
    .select([
      's.runId as id',
      's.trigger',
      'r.status',
      's.found',
      's.ignored',
      's.opened',
      's.resolved',
      's.failingChecks',
      's.createdAt',
      'r.finishedAt',
      's.recordedAt',
    ])
    .select((eb) => eb.fn.coalesce('s.reason', 'r.statusReason').as('reason'))
    .orderBy('s.runId', 'desc')
    .limit(request.limit + 1)
    .execute();
}
