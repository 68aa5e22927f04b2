import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { DriftFinding } from '../entity.ts';

/** The place of a finding, as its events name it. */
export function placeOf({ monitorId, instanceId, address, path }: DriftFinding) {
  return { monitor_id: monitorId, instance_id: instanceId, address, path };
}

/** Publishes that a finding was opened or resolved. @param runId the run that caused it; null if no run did */
export function publishTransition(tx: Transaction, finding: DriftFinding, runId: string | null): void {
  const { id: subjectId, teamId = null, reason } = finding;
  const about = { subjectId, owners: { teamId } };
  const data = { ...placeOf(finding), reason };
  if (finding.status === 'open')
    tx.publish({ type: 'drift_finding.opened', ...about, data: { ...data, run_id: runId } });
  if (finding.status === 'resolved' && runId !== null)
    tx.publish({ type: 'drift_finding.resolved', ...about, data: { ...data, run_id: runId } });
}
