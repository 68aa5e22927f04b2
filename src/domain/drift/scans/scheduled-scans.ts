import { findForChange } from '#database/row-lock.ts';
import { readGates } from '#domain/settings/store.ts';
import {
  NothingToDo,
  runSystemCommand,
  systemActor,
  systemCommandKey,
} from '#domain/shared/commands/system-command.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { refuseClosed } from '#domain/shared/features/gates.ts';
import { defineScheduledWork, type ScheduledWorkDeps } from '#domain/shared/schedules/scheduled-work.ts';
import { DriftMonitor } from '../entity.ts';
import { findMonitor, lockMonitor } from '../monitors/monitor-target.ts';
import { monitorWorkKind } from '../monitors/scheduling.ts';
import { findPlannedMonitor, listPlannedMonitors } from './scheduled-scans-store.ts';
import { startScan } from './start-scan.ts';

const action = 'drift_monitor.scan_started';

/** Scans at the scheduled times of monitors. While a scan runs, the next one is skipped. */
export const monitorWork = defineScheduledWork({
  kind: monitorWorkKind,
  listPlanned: listPlannedMonitors,
  lockPlanned: async (em, id) => {
    await lockMonitor(em, id);
    return findPlannedMonitor(em, id);
  },
  trigger: startScheduledScan,
});

/**
 * Starts the scan of one scheduled time; repeated calls start no second scan. A refusal becomes the last failure of the monitor; so does a
 * refusal because drift detection is turned off.
 */
export async function startScheduledScan(deps: ScheduledWorkDeps, id: string, scheduledAt: Date): Promise<void> {
  const cause = `${id}/${scheduledAt.toISOString()}`;
  const key = systemCommandKey(deps.bindingKey, action, cause);
  try {
    await runSystemCommand(
      deps,
      { action, target: { id }, cause },
      {
        find: (tx) => findMonitor(tx.em, id, true),
        act: async (tx, _caller, target) => {
          if (!target?.monitor.enabled || !(await findPlannedMonitor(tx.em, id))) throw new NothingToDo();
          refuseClosed('drift', await readGates(tx.em));
          const requester = systemActor(action);
          const runId = await startScan(tx, deps, target, { key, trigger: 'schedule', requester });
          return { id, after: { runId }, revision: target.monitor.revision };
        },
      },
    );
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'unavailable') throw error;
    if (error.code !== 'drift_scan_running') await recordRefusal(deps, id, error);
  }
}

function recordRefusal(
  { transactions }: ScheduledWorkDeps,
  id: string,
  { code, message }: ServiceError,
): Promise<void> {
  return transactions.run(async (tx) => {
    await lockMonitor(tx.em, id);
    const monitor = await findForChange(tx.em, DriftMonitor, { id });
    if (monitor) monitor.lastFailure = { at: new Date().toISOString(), code, message, runId: null };
  });
}
