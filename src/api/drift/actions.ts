import { actionsOf } from '#api/pipeline/actions.ts';
import type { FindingDetails } from '#domain/drift/findings/list-store.ts';
import { findReopeningRefusal, findSuppressionRefusal } from '#domain/drift/findings/suppression.ts';
import type { MonitorDetails } from '#domain/drift/monitors/list-store.ts';
import { findDeletionRefusal } from '#domain/drift/monitors/monitors.ts';
import type { EvidenceFacts } from '#domain/drift/remediation/remediation-refusal.ts';
import { findRemediationRefusal } from '#domain/drift/remediation/remediation-refusal.ts';
import { findScanRefusal } from '#domain/drift/scans/scan-refusal.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { type Archivable, findArchivedRefusal } from '#domain/shared/archiving.ts';

/** A monitor with its owner, as answers show it. */
export interface OwnedMonitor extends MonitorDetails, Ownership, Archivable {
  readonly teamId: string | null;
  /** Why its instance cannot be scanned. */
  readonly instanceRefusal: Refusal | null;
}

/** What a caller may do with a monitor. */
export const monitorActions = actionsOf<OwnedMonitor>()({
  scan: {
    operation: 'drift_monitors.scan',
    findRefusal: (monitor) => findScanRefusal(monitor, monitor) ?? monitor.instanceRefusal,
  },
  update: { operation: 'drift_monitors.update', findRefusal: findArchivedRefusal },
  set_ignore_rules: { operation: 'drift_monitors.set_ignore_rules', findRefusal: findArchivedRefusal },
  delete: { operation: 'drift_monitors.delete', findRefusal: findDeletionRefusal },
});

/** What a caller may do with the ignore rules of a monitor. */
export const ignoreRulesActions = actionsOf<Ownership & Archivable>()({
  update: { operation: 'drift_monitors.set_ignore_rules', findRefusal: findArchivedRefusal },
});

/** A finding with its owner, as answers show it, and the facts that decide about a remediation by its latest evidence. */
export interface OwnedFinding extends FindingDetails, Ownership, Archivable {
  readonly teamId: string | null;
  readonly evidenceFacts: EvidenceFacts;
  /** Why no run of its instance can be admitted. */
  readonly admissionRefusal: Refusal | null;
}

/** What a caller may do with a finding. */
export const findingActions = actionsOf<OwnedFinding>()({
  suppress: {
    operation: 'drift_findings.suppress',
    findRefusal: (finding) => findArchivedRefusal(finding) ?? findSuppressionRefusal(finding),
  },
  reopen: {
    operation: 'drift_findings.reopen',
    findRefusal: (finding) => findArchivedRefusal(finding) ?? findReopeningRefusal(finding),
  },
  remediate: {
    operation: 'drift_findings.remediate',
    findRefusal: (finding) => finding.admissionRefusal ?? findRemediationRefusal(finding.evidenceFacts),
  },
});
