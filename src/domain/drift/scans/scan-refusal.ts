import type { Refusal } from '#domain/shared/actions.ts';
import { type Archivable, findArchivedRefusal } from '#domain/shared/archiving.ts';
import type { MonitorScope } from '../model.ts';

/** Why a monitor cannot scan now; null if it can. */
export function findScanRefusal(
  target: Archivable,
  { scope, scanRunId }: { readonly scope: MonitorScope; readonly scanRunId: string | null },
): Refusal | null {
  const archived = findArchivedRefusal(target);
  if (archived) return archived;
  if (scope !== 'instance') {
    const message = `the monitor watches ${scope === 'environment' ? 'an environment' : 'a template'} and scans nothing itself: scan with the monitors of the instances`;
    return { code: 'drift_monitor_scans_nothing', message };
  }
  if (scanRunId === null) return null;
  return {
    code: 'drift_scan_running',
    message: `the run ${scanRunId} scans the instance already: wait for it, or cancel it`,
  };
}
