import type { Principal } from '#domain/shared/access/principal.ts';
import { ActionRefused, type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { maxSuppressionYears } from '../model.ts';
import { citeEvidence } from '../retention/evidence-store.ts';
import type { FindingTarget } from './finding-target.ts';
import type { FindingStatus } from './model.ts';
import { placeOf, publishTransition } from './publish.ts';
import { reopen, suppress } from './transitions.ts';

export interface SuppressionRequest {
  readonly reason: string;
  readonly until: Date;
  /** The evidence that the caller has seen. Each must be the latest of its finding, because the caller accepts its value. */
  readonly evidenceIds: readonly string[];
}

/** Why a finding cannot be suppressed; null if it can. */
export function findSuppressionRefusal({ status }: { readonly status: FindingStatus }): Refusal | null {
  if (status !== 'resolved') return null;
  return {
    code: 'drift_finding_resolved',
    message: 'the deviation is gone: only a finding that is open or suppressed can be suppressed',
  };
}

const newerEvidence: Refusal = {
  code: 'evidence_stale',
  message: 'evidence_id: a scan has seen something else since: look at the latest evidence, and decide again',
};

export function findReopeningRefusal({ status }: { readonly status: FindingStatus }): Refusal | null {
  if (status === 'suppressed') return null;
  return {
    code: 'drift_finding_not_suppressed',
    message: `the finding is ${status}: only a suppressed finding can be reopened`,
  };
}

/** @throws Invalid for a time that is past, or more than a year away */
export function refuseUnfitTime(until: Date, now = new Date()): void {
  const latest = new Date(now);
  latest.setUTCFullYear(now.getUTCFullYear() + maxSuppressionYears);
  if (until <= now) throw invalidField('until', 'the time is past: expected a time in the future');
  if (until > latest) throw invalidField('until', 'expected a time within a year from now');
}

/**
 * Accepts the value that a finding shows, until a time. Another value, or the end of that time, opens it again. The caller has locked the
 * monitor.
 * @throws ActionRefused if the deviation no longer exists, or a scan has found another value since
 */
export function suppressFinding(
  tx: Transaction,
  target: FindingTarget,
  { reason, until, evidenceIds }: SuppressionRequest,
  by: Principal,
): void {
  const { finding } = target;
  refuseArchived(target);
  throwIfRefused(findSuppressionRefusal(finding));
  if (evidenceIds.some((id) => id !== finding.evidenceId)) throw new ActionRefused(newerEvidence);
  finding.follow(suppress(finding.state(), { reason, until }));
  finding.suppressedByName = by.name;
  finding.reopenReason = null;
  tx.write(citeEvidence(tx.em, finding.evidenceId));
  tx.publish({
    type: 'drift_finding.suppressed',
    subjectId: finding.id,
    owners: target,
    data: { ...placeOf(finding), by: by.name, reason, until: until.toISOString() },
  });
}

/** Ends a suppression before its time. The caller has locked the monitor. @throws ActionRefused if the finding is not suppressed */
export function reopenFinding(
  tx: Transaction,
  target: FindingTarget,
  { reason, expectedRevision }: { readonly reason: string; readonly expectedRevision: number | undefined },
): void {
  const { finding } = target;
  refuseArchived(target);
  refuseStale(finding, expectedRevision);
  throwIfRefused(findReopeningRefusal(finding));
  finding.follow(reopen(finding.state()));
  finding.reopenReason = reason;
  publishTransition(tx, finding, null);
}
