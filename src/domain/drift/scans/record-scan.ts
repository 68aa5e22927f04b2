import type { Em } from '#database/database.ts';
import { findForChange, readForChange } from '#database/row-lock.ts';
import { describeDetail } from '#domain/runs/diagnostics/status-detail.ts';
import { type Deviation, deviationsOf } from '#domain/runs/plans/deviations.ts';
import { hasFailed } from '#domain/runs/plans/sections.ts';
import type { Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import { isTerminal, type TerminalStatus } from '#domain/shared/vocabulary/runs.ts';
import { DriftMonitor, DriftScan } from '../entity.ts';
import type { ScanFailure, ScanRejection } from '../model.ts';
import { compileIgnoreRules } from '../monitors/ignore-rules.ts';
import { lockMonitor } from '../monitors/monitor-target.ts';
import { type EndedScan, findUnrecordedScan, readEndedScan, readIgnoreRules } from './record-scan-store.ts';
import { type ScanCounts, updateFindings } from './update-findings.ts';

/** A scan with more deviations changes no findings. Each would be a row, and the author of the template controls their number. */
const maxDeviations = 5_000;

/** The counts of a scan that changes no findings. */
const nothing: ScanCounts = { found: 0, ignored: 0, opened: 0, resolved: 0, openedPerpetual: 0 };

/**
 * Records the result of a scan that has ended. A complete scan opens and resolves findings; any other only changes the health of its
 * monitor. Nothing happens if the result is recorded already, or if the run is not the scan of a monitor.
 */
export async function recordScan(transactions: Transactions, runId: string, em: Em): Promise<void> {
  const known = await findUnrecordedScan(em, runId);
  if (known) await transactions.run((tx) => record(tx, runId, known.monitorId));
}

async function record(tx: Transaction, runId: string, monitorId: string): Promise<void> {
  const { em } = tx;
  await lockMonitor(em, monitorId);
  const scan = await findForChange(em, DriftScan, { runId, recordedAt: null });
  const run = scan && (await readEndedScan(em, runId));
  if (!scan || !run || !isTerminal(run.status)) return;
  const monitor = await readForChange(em, DriftMonitor, { id: monitorId });
  const deviations = run.status === 'succeeded' ? deviationsOf(run.changes ?? []) : [];
  const rejection = findRejection(run, deviations);
  const isComplete = run.status === 'succeeded' && rejection === null && !monitor.deletedAt;
  const { openedPerpetual, ...counts } = isComplete ? await followDeviations(tx, monitor, run, deviations) : nothing;
  const reason = rejection?.code ?? run.reason;
  const failingChecks = run.status === 'succeeded' ? (run.sections?.checks.filter(hasFailed).length ?? null) : null;
  Object.assign(scan, {
    recordedAt: new Date(),
    outcome: run.status,
    reason,
    failingChecks,
    ...(isComplete && counts),
  });
  followHealth(monitor, run, rejection);
  tx.publish({
    type: 'drift_monitor.scanned',
    subjectId: monitorId,
    owners: { teamId: monitor.teamId ?? null },
    data: {
      run_id: runId,
      status: run.status as TerminalStatus,
      ...counts,
      failing_checks: failingChecks,
      opened_perpetual: openedPerpetual,
    },
  });
}

interface Rejection {
  readonly code: ScanRejection;
  readonly message: string;
}

/** Why a scan that succeeded changes no findings; null if it does. */
function findRejection({ status, changes, ...run }: EndedScan, { length }: readonly Deviation[]): Rejection | null {
  if (status !== 'succeeded') return null;
  const hasOtherState = run.stateSerial !== null && run.stateSerial !== run.presentSerial;
  if (run.deployedRunId !== run.presentDeployment || hasOtherState) {
    const message = 'the instance changed before the result of the scan was recorded: the next scan tells how it is';
    return { code: 'overtaken', message };
  }
  if (changes === null) {
    const message = 'the result of the scan is gone: its run was deleted before it was recorded. Scan again';
    return { code: 'no_result', message };
  }
  if (length <= maxDeviations) return null;
  const message = `the scan found ${length} deviations, and at most ${maxDeviations} are recorded: apply the template, or watch smaller instances`;
  return { code: 'too_many_deviations', message };
}

/** Updates the findings from the deviations, without those that an ignore rule leaves out. */
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

/**
 * Updates the health of the monitor. A canceled scan does not change it, because a run or a person canceled it. A scan of an earlier
 * deployment does not count either.
 */
function followHealth(monitor: DriftMonitor, run: EndedScan, rejection: Rejection | null): void {
  if (run.status === 'canceled' || rejection?.code === 'overtaken') return;
  const now = new Date(run.finishedAt ?? Date.now());
  monitor.lastScanAt = now;
  const failure = rejection ?? findFailure(run);
  if (failure === null) monitor.lastSuccessAt = now;
  monitor.lastFailure = failure && { at: now.toISOString(), ...failure, runId: run.id };
}

/** Why a scan did not succeed; null if it did. */
function findFailure({ status, reason, detail }: EndedScan): Pick<ScanFailure, 'code' | 'message'> | null {
  if (status === 'succeeded') return null;
  return {
    code: reason ?? status,
    message: detail
      ? describeDetail(detail)
      : reason === null
        ? 'the scan ended without success'
        : statusReasons[reason],
  };
}
