import type { Refusal } from '#domain/shared/actions.ts';
import type { FindingStatus } from '../findings/model.ts';
import { type RemediationDirection, remediationDirections } from '../model.ts';

/** The facts that decide whether a run may act on a piece of evidence. */
export interface EvidenceFacts {
  readonly status: FindingStatus;
  /** The unfinished run that remedies the finding; null if there is none. */
  readonly remediationRunId: string | null;
  /** Whether the evidence is the latest of the finding. */
  readonly isLatest: boolean;
  /** Whether the instance still has the state and the deployment that the evidence concerns. */
  readonly isOfPresentState: boolean;
  /** Whether the instance is deployed, and the inputs of its last deployment still exist. */
  readonly isDeployed: boolean;
  /** The directions that the template of the last deployment supports. */
  readonly directions: readonly RemediationDirection[];
}

/**
 * The directions that a kind of template supports. Commands have no state that could adopt the real values, so their deviations can only be
 * reverted.
 */
export function directionsOf(executor: 'command' | 'opentofu'): readonly RemediationDirection[] {
  return executor === 'command' ? ['revert'] : remediationDirections;
}

/** Why a remediation may not take this direction; null if it may. */
export function findDirectionRefusal(
  { directions }: Pick<EvidenceFacts, 'directions'>,
  wanted: RemediationDirection,
): Refusal | null {
  if (directions.includes(wanted)) return null;
  return {
    code: 'operation_unsupported',
    message:
      'direction: the template runs commands and has no state that could take over the real values: revert the deviation, or change the variables',
  };
}

/** Why a run may not act on the evidence; null if it may. */
export function findRemediationRefusal({
  status,
  remediationRunId,
  isLatest,
  isOfPresentState,
  isDeployed,
}: EvidenceFacts): Refusal | null {
  if (status === 'resolved')
    return { code: 'drift_finding_resolved', message: 'the deviation is gone: there is nothing to remediate' };
  if (remediationRunId !== null) return running(remediationRunId);
  if (!isLatest) return stale('the finding has newer evidence: read the finding again and decide by that');
  if (!isDeployed)
    return {
      code: 'nothing_deployed',
      message:
        'the instance is not deployed, or the inputs of its last deployment were deleted: apply it with the inputs that you want',
    };
  if (!isOfPresentState) return stale('the instance has changed since the scan: scan it again');
  return null;
}

function running(runId: string): Refusal {
  return {
    code: 'remediation_running',
    message: `the run ${runId} remedies the finding already: wait for it, or cancel it`,
  };
}

function stale(why: string): Refusal {
  return { code: 'evidence_stale', message: `evidence_id: ${why}` };
}
