import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { firstIdAt } from '#domain/shared/ids.ts';
import type { IdPage } from '#domain/shared/paging/every-row.ts';

/** How many of the latest scans of a monitor are kept at any age. */
const keptScans = 100;

/** Scans and findings older than these times are past their retention. */
export interface Cutoffs {
  readonly scans: Date;
  readonly findings: Date;
}

/** The next monitors, by id, with anything past its retention; deleted monitors are included. */
export function findMonitorsWithOldHistory(
  em: Em,
  cutoffs: Cutoffs,
  { after, limit }: IdPage,
): Promise<{ id: string }[]> {
  return db(em)
    .selectFrom('drift_monitors as m')
    .where('m.id', '>', after)
    .where((eb) =>
      eb.or([eb.exists(selectOldScans(eb, cutoffs).limit(1)), eb.exists(selectOldFindings(eb, cutoffs).limit(1))]),
    )
    .select('m.id')
    .orderBy('m.id')
    .limit(limit)
    .execute();
}

/** The oldest scans of a monitor that are past their retention. */
export async function listOldScans(em: Em, monitorId: string, cutoffs: Cutoffs, limit: number): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('drift_monitors as m')
    .innerJoinLateral(
      (eb) => selectOldScans(eb, cutoffs).orderBy('s.runId').limit(limit).as('old'),
      (join) => join.onTrue(),
    )
    .where('m.id', '=', monitorId)
    .select('old.id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Findings of a monitor that are past their retention. */
export async function listOldFindings(em: Em, monitorId: string, cutoffs: Cutoffs, limit: number): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('drift_monitors as m')
    .innerJoinLateral(
      (eb) => selectOldFindings(eb, cutoffs).limit(limit).as('old'),
      (join) => join.onTrue(),
    )
    .where('m.id', '=', monitorId)
    .select('old.id')
    .execute();
  return rows.map(({ id }) => id);
}

type OverMonitors = Over<{ m: 'drift_monitors' }>;

/**
 * The old scans except the latest ones; for a monitor that was deleted long ago, all. The id of a scan contains the time when it began. A
 * scan without a recorded result has not ended, and stays.
 */
function selectOldScans(eb: OverMonitors, { scans }: Cutoffs) {
  const lastToForget = eb
    .selectFrom('drift_scans as kept')
    .whereRef('kept.monitorId', '=', 'm.id')
    .orderBy('kept.runId', 'desc')
    .offset(keptScans)
    .limit(1)
    .select('kept.runId');
  return eb
    .selectFrom('drift_scans as s')
    .whereRef('s.monitorId', '=', 'm.id')
    .where('s.runId', '<', firstIdAt(scans))
    .where((scan) => scan.or([scan('s.runId', '<=', lastToForget), wasDeletedBefore(scans)]))
    .where('s.recordedAt', 'is not', null)
    .select('s.runId as id');
}

/**
 * The findings that were resolved long ago; for a monitor that was deleted long ago, all. A finding with an unexpired suppression stays,
 * because the value may return. There are two selections, so that each can use an index.
 */
function selectOldFindings(eb: OverMonitors, { findings }: Cutoffs) {
  const ofMonitor = eb.selectFrom('drift_findings as f').whereRef('f.monitorId', '=', 'm.id').select('f.id');
  return ofMonitor
    .where('f.status', '=', sql.lit('resolved' as const))
    .where('f.lastSeenAt', '<', sql<string>`${findings}`)
    .where('f.suppressedUntil', 'is', null)
    .unionAll(ofMonitor.where(wasDeletedBefore(findings)));
}

function wasDeletedBefore(moment: Date): Expression<SqlBool> {
  return sql<SqlBool>`coalesce(${expressionBuilder<Tables & { m: Tables['drift_monitors'] }, 'm'>().ref('m.deletedAt')} < ${moment}, false)`;
}
