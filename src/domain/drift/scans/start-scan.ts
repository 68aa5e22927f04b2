import { db } from '#domain/db.ts';
import { admitScan } from '#domain/runs/admission/scans/scan.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { DriftScan } from '../entity.ts';
import type { ScanTrigger } from '../model.ts';
import type { MonitorTarget } from '../monitors/monitor-target.ts';
import { findScanRefusal } from './scan-refusal.ts';

export interface ScanRequest {
  readonly key: string;
  readonly trigger: ScanTrigger;
  readonly requester: Principal;
}

/**
 * Admits the run of a scan and returns its id. The caller has locked the monitor.
 * @throws ActionRefused if the monitor does not scan, if one of its scans has not ended, or if `admitScan` refuses the run
 */
export async function startScan(
  tx: Transaction,
  deps: Parameters<typeof admitScan>[1],
  target: MonitorTarget,
  { key, trigger, requester }: ScanRequest,
): Promise<string> {
  const { id: monitorId, scope, instanceId } = target.monitor;
  throwIfRefused(findScanRefusal(target, { scope, scanRunId: await findRunningScan(tx, monitorId) }));
  const links = { driftMonitorId: monitorId };
  const { runId, deployedRunId } = await admitScan(tx, deps, { key, instanceId: instanceId ?? '', requester, links });
  tx.em.persist(tx.em.create(DriftScan, { runId, monitorId, trigger, deployedRunId }));
  return runId;
}

async function findRunningScan({ em }: Transaction, monitorId: string): Promise<string | null> {
  const row = await db(em)
    .selectFrom('drift_scans')
    .where('monitorId', '=', monitorId)
    .where('recordedAt', 'is', null)
    .select('runId')
    .executeTakeFirst();
  return row?.runId ?? null;
}
