import type { Em } from '#database/database.ts';
import { isTerminal, type TerminalStatus } from '#domain/runs/model.ts';
import { type Deviation, deviationsOf } from '#domain/runs/plans/deviations.ts';
import { statusReasons } from '#domain/runs/reasons/model.ts';
import type { Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { DriftMonitor, DriftScan } from '../entity.ts';
import { compileIgnoreRules } from '../monitors/ignore-rules.ts';
import { lockMonitor } from '../monitors/monitor-target.ts';
import { type EndedScan, findUnrecordedScan, readEndedScan, readIgnoreRules } from './record-scan-store.ts';
import { type ScanCounts, updateFindings } from './update-findings.ts';

/** A scan with more deviations changes no findings: each would be a row, and whoever writes the template chooses how many there are. */
const mostDeviations = 5_000;

/** The counts of a scan that changes no findings. */
const nothing: ScanCounts = { found: 0, ignored: 0, opened: 0, resolved: 0 };

/**
 * Records the result of a scan that has ended. A complete scan opens and resolves findings; any other only changes the health of its monitor.
 * Nothing happens if the result is recorded already, or if the run is no scan of a monitor.
 */
export async function recordScan(transactions: Transactions, runId: string, em: Em): Promise<void> {
  const known = await findUnrecordedScan(em, runId);
  if (known) await transactions.run((tx) => record(tx, runId, known.monitorId));
}

async function record(tx: Transaction, runId: string, monitorId: string): Promise<void> {
  const { em } = tx;
  await lockMonitor(em, monitorId);
  const scan = await em.findOne(DriftScan, { runId, recordedAt: null });
  const run = scan && (await readEndedScan(em, runId));
  if (!scan || !run || !isTerminal(run.status)) return;
  const monitor = await em.findOneOrFail(DriftMonitor, { id: monitorId });
  const isUsable = run.status === 'succeeded' && run.changes !== null && !monitor.deletedAt;
  const deviations = isUsable ? deviationsOf(run.changes ?? []) : [];
  const isTooMany = deviations.length > mostDeviations;
  const isComplete = isUsable && !isTooMany;
  const counts = isComplete ? await followDeviations(tx, monitor, run, deviations) : nothing;
  const now = new Date();
  Object.assign(scan, { recordedAt: now, outcome: run.status, reason: run.reason });
  Object.assign(scan, isComplete ? counts : {});
  if (isTooMany) refuseResult(monitor, run, deviations.length);
  else followHealth(monitor, run);
  tx.publish({
    type: 'drift_monitor.scanned',
    subjectId: monitorId,
    owners: { teamId: monitor.teamId ?? null },
    data: { run_id: runId, status: run.status as TerminalStatus, ...counts },
  });
}

/** Makes the findings follow the deviations, without those that an ignore rule leaves out. */
async function followDeviations(
  tx: Transaction,
  monitor: DriftMonitor,
  run: EndedScan,
  deviations: readonly Deviation[],
): Promise<ScanCounts> {
  const isIgnored = compileIgnoreRules(await readIgnoreRules(tx.em, monitor.id));
  const seen: Deviation[] = [];
  const ignored: Deviation[] = [];
  for (const deviation of deviations) {
    (isIgnored(deviation.address, deviation.path) ? ignored : seen).push(deviation);
  }
  return updateFindings(tx, monitor, run, { seen, ignored });
}

/** A canceled scan does not change the health: it gave way to a run, or somebody canceled it. */
function followHealth(monitor: DriftMonitor, { id, status, reason, finishedAt }: EndedScan): void {
  if (status === 'canceled') return;
  const now = new Date(finishedAt ?? Date.now());
  monitor.lastScanAt = now;
  if (status === 'succeeded') {
    monitor.lastSuccessAt = now;
    monitor.lastFailure = null;
    return;
  }
  const message = reason === null ? 'the scan ended without success' : statusReasons[reason];
  monitor.lastFailure = { at: now.toISOString(), code: reason ?? status, message, runId: id };
}

function refuseResult(monitor: DriftMonitor, { id, finishedAt }: EndedScan, count: number): void {
  const now = new Date(finishedAt ?? Date.now());
  const message = `the scan found ${count} deviations, and at most ${mostDeviations} are recorded: apply the template, or watch smaller instances`;
  monitor.lastScanAt = now;
  monitor.lastFailure = { at: now.toISOString(), code: 'too_many_deviations', message, runId: id };
}
