import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { deleteRun } from '#domain/runs/deletion/deletion.ts';
import { Run } from '#domain/runs/entity.ts';
import {
  NothingToDo,
  runSystemCommand,
  type SystemCommandDeps,
  systemActor,
} from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { lockMonitor } from '../monitors/monitor-target.ts';
import { type Cutoffs, listOldFindings, listOldScans } from './old-history-store.ts';

const action = 'drift_monitor.history_expired';

/** The maximum that one transaction removes, so that it locks the monitor only for a short time. */
export interface Batch {
  readonly scans: number;
  readonly findings: number;
}
const usualBatch: Batch = { scans: 100, findings: 500 };

/**
 * Removes the scans and findings of a monitor that are past their retention, in transactions of limited size. Each transaction locks the
 * monitor and selects again, so a finding that has opened again meanwhile stays. Repeating it is harmless.
 */
export async function forgetHistory(
  deps: SystemCommandDeps,
  monitorId: string,
  cutoffs: Cutoffs,
  batch = usualBatch,
): Promise<void> {
  for (;;) {
    const change = await runSystemCommand(
      deps,
      { action, target: { id: monitorId }, cause: null },
      {
        find: (tx) => lockWithOwner(tx.em, monitorId),
        act: async (tx) => {
          const after = await forgetBatch(tx, monitorId, cutoffs, batch);
          if (after.scans + after.findings === 0) throw new NothingToDo();
          return { id: monitorId, after };
        },
      },
    );
    const { scans = 0, findings = 0 } = change?.after ?? {};
    if (scans < batch.scans && findings < batch.findings) return;
  }
}

/** Locks a monitor, even a deleted one, and finds its owner. */
async function lockWithOwner(em: Em, id: string) {
  await lockMonitor(em, id);
  return db(em)
    .selectFrom('drift_monitors as m')
    .leftJoin('teams as t', 't.id', 'm.teamId')
    .where('m.id', '=', id)
    .select(['m.teamId', 't.organizationId'])
    .executeTakeFirst();
}

async function forgetBatch(tx: Transaction, monitorId: string, cutoffs: Cutoffs, batch: Batch) {
  const scans = await listOldScans(tx.em, monitorId, cutoffs, batch.scans);
  await forgetScans(tx, scans);
  const findings = await listOldFindings(tx.em, monitorId, cutoffs, batch.findings);
  const evidence = await forgetFindings(tx.em, findings);
  return { scans: scans.length, findings: findings.length, evidence };
}

/** Deletes scans and, as a deletion by a person would, the logs, plans and inputs of their runs. */
async function forgetScans(tx: Transaction, ids: readonly string[]): Promise<void> {
  const { em } = tx;
  await db(em)
    .deleteFrom('drift_scans')
    .where('runId', '=', (eb) => eb.fn.any(eb.val(ids)))
    .execute();
  await db(em)
    .selectFrom('runs')
    .where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .orderBy('id')
    .select('id')
    .forNoKeyUpdate()
    .execute();
  const runs = await em.find(Run, { id: { $in: [...ids] }, deletedAt: null });
  const { name } = systemActor(action);
  for (const run of runs) await deleteRun(tx, run, name);
}

/** Deletes findings; returns how many pieces of evidence were deleted with them. */
async function forgetFindings(em: Em, ids: readonly string[]): Promise<number> {
  const { numDeletedRows } = await db(em)
    .deleteFrom('drift_evidence')
    .where('findingId', '=', (eb) => eb.fn.any(eb.val(ids)))
    .executeTakeFirstOrThrow();
  await db(em)
    .deleteFrom('drift_findings')
    .where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .execute();
  return Number(numDeletedRows);
}
