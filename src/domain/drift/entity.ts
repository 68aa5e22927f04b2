import { isDeepStrictEqual } from 'node:util';
import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { ChangeAction, Expectation } from '#domain/runs/plans/model.ts';
import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { TerminalStatus } from '#domain/shared/vocabulary/runs.ts';
import type { FindingReason, FindingState, FindingStatus } from './findings/model.ts';
import type { MonitorScope, ScanFailure, ScanTrigger } from './model.ts';
import type { IgnoreRule } from './monitors/ignore-rules.ts';

export const DriftMonitorSchema = defineEntity({
  name: 'DriftMonitor',
  tableName: 'drift_monitors',
  uniques: [
    {
      name: 'drift_monitors_instance_unique',
      expression:
        'create unique index "drift_monitors_instance_unique" on "drift_monitors" ("instance_id") where "instance_id" is not null and "deleted_at" is null',
    },
    {
      name: 'drift_monitors_environment_unique',
      expression: `create unique index "drift_monitors_environment_unique" on "drift_monitors" ("environment_id") where "scope" = 'environment' and "deleted_at" is null`,
    },
    {
      name: 'drift_monitors_template_unique',
      expression: `create unique index "drift_monitors_template_unique" on "drift_monitors" ("template_id") where "scope" = 'template' and "deleted_at" is null`,
    },
  ],
  indexes: [
    { name: 'drift_monitors_team_id_index', properties: ['teamId', 'id'] },
    {
      name: 'drift_monitors_environment_index',
      expression: `create index "drift_monitors_environment_index" on "drift_monitors" ("environment_id", "id") where "environment_id" is not null`,
    },
    {
      name: 'drift_monitors_inherited_from_index',
      expression: `create index "drift_monitors_inherited_from_index" on "drift_monitors" ("inherited_from", "id") where "inherited_from" is not null`,
    },
  ],
  properties: {
    id: id(),
    scope: p.string().$type<MonitorScope>(),
    teamId: p.uuid().nullable(),
    /** The environment that it watches, or that of the instance that it watches. */
    environmentId: p.uuid().nullable(),
    templateId: p.uuid().nullable(),
    instanceId: p.uuid().nullable(),
    /** The monitor of an environment or a template from which it is inherited. It follows the schedule of that monitor. */
    inheritedFrom: p.uuid().nullable(),
    schedule: p.json<ScheduleSpec>(),
    enabled: p.boolean().default(true),
    ignoreRules: p.json<IgnoreRule[]>().default([]),
    lastScanAt: at().nullable(),
    lastSuccessAt: at().nullable(),
    lastFailure: p.json<ScanFailure>().nullable(),
    revision: revision(),
    createdAt: createdAt(),
    deletedAt: at().nullable(),
  },
});
export class DriftMonitor extends DriftMonitorSchema.class {}
DriftMonitorSchema.setClass(DriftMonitor);

/** A run that scans for a monitor, and its result. */
export const DriftScanSchema = defineEntity({
  name: 'DriftScan',
  tableName: 'drift_scans',
  uniques: [
    {
      name: 'drift_scans_unfinished_unique',
      expression: `create unique index "drift_scans_unfinished_unique" on "drift_scans" ("monitor_id") where "recorded_at" is null`,
    },
  ],
  indexes: [{ name: 'drift_scans_monitor_index', properties: ['monitorId', 'runId'] }],
  properties: {
    runId: p.uuid().primary(),
    monitorId: () => p.manyToOne(DriftMonitor).mapToPk().fieldName('monitor_id').deleteRule('restrict'),
    trigger: p.string().$type<ScanTrigger>(),
    /** The deployment that it checks. If the instance has another one when the scan is recorded, the scan changes no findings. */
    deployedRunId: p.uuid(),
    createdAt: createdAt(),
    /** When its result was recorded; null until then. */
    recordedAt: at().nullable(),
    outcome: p.string().$type<TerminalStatus>().nullable(),
    /** Why it has no result: the reason of its run, or one of `ScanRejection`. */
    reason: p.string().nullable(),
    /** How many deviations it found without the ignored ones, and how many the rules ignored. */
    found: p.integer().nullable(),
    ignored: p.integer().nullable(),
    /** How many findings it opened (new or again), and how many it resolved. */
    opened: p.integer().nullable(),
    resolved: p.integer().nullable(),
    /**
     * How many checks of the configuration failed. They do not count as deviations. Null if the scan failed or its plan has no checks
     * stored.
     */
    failingChecks: p.integer().nullable(),
  },
});
export class DriftScan extends DriftScanSchema.class {}
DriftScanSchema.setClass(DriftScan);

/** A deviation of an instance. It is the same finding in all scans that see it: monitor, address and path identify it. */
export const DriftFindingSchema = defineEntity({
  name: 'DriftFinding',
  tableName: 'drift_findings',
  uniques: [{ name: 'drift_findings_identity_unique', properties: ['monitorId', 'identity'] }],
  indexes: [
    { name: 'drift_findings_monitor_index', properties: ['monitorId', 'id'] },
    { name: 'drift_findings_monitor_status_index', properties: ['monitorId', 'status', 'id'] },
    { name: 'drift_findings_last_run_index', properties: ['lastRunId', 'id'] },
    { name: 'drift_findings_team_index', properties: ['teamId', 'id'] },
    { name: 'drift_findings_team_status_index', properties: ['teamId', 'status', 'id'] },
    { name: 'drift_findings_status_index', properties: ['status', 'id'] },
    { name: 'drift_findings_instance_index', properties: ['instanceId', 'status', 'id'] },
    {
      name: 'drift_findings_resolved_index',
      expression: `create index "drift_findings_resolved_index" on "drift_findings" ("monitor_id", "last_seen_at") where "status" = 'resolved'`,
    },
    {
      name: 'drift_findings_suppressed_index',
      expression: `create index "drift_findings_suppressed_index" on "drift_findings" ("suppressed_until", "id") where "suppressed_until" is not null`,
    },
  ],
  properties: {
    id: id(),
    monitorId: () => p.manyToOne(DriftMonitor).mapToPk().fieldName('monitor_id').deleteRule('restrict'),
    teamId: p.uuid().nullable(),
    instanceId: p.uuid(),
    /** Digest of address and path, which may be longer than an index takes. */
    identity: p.string(),
    address: p.text(),
    path: p.text(),
    status: p.string().$type<FindingStatus>(),
    reason: p.string().$type<FindingReason>(),
    firstSeenAt: at(),
    lastSeenAt: at(),
    seenCount: p.integer(),
    /** Digest of the value that was observed last. */
    observed: p.string(),
    /** The latest evidence, and the latest scan that saw the deviation. */
    evidenceId: p.uuid(),
    lastRunId: p.uuid(),
    suppressedValue: p.string().nullable(),
    suppressedUntil: at().nullable(),
    suppressionReason: p.text().nullable(),
    suppressedByName: p.string().nullable(),
    /** Why somebody opened it again. */
    reopenReason: p.text().nullable(),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class DriftFinding extends DriftFindingSchema.class {
  /** The part of the finding that the transitions use. */
  state(): FindingState {
    const { suppressedValue, suppressedUntil, suppressionReason } = this;
    const { status, reason, firstSeenAt, lastSeenAt, seenCount: count, observed } = this;
    const suppression =
      suppressedValue && suppressedUntil
        ? { observed: suppressedValue, until: suppressedUntil, reason: suppressionReason ?? '' }
        : null;
    return { status, reason, firstSeenAt, lastSeenAt, count, observed, suppression };
  }

  /** Moves to the state that a transition returned. Being seen again does not raise the revision. */
  follow(next: FindingState): void {
    const { status, reason, lastSeenAt, count, observed, suppression } = next;
    if (!isDeepStrictEqual({ ...this.state(), lastSeenAt, count }, next)) this.revision += 1;
    Object.assign(this, { status, reason, lastSeenAt, seenCount: count, observed });
    this.suppressedValue = suppression?.observed ?? null;
    this.suppressedUntil = suppression?.until ?? null;
    this.suppressionReason = suppression?.reason ?? null;
    if (suppression === null) this.suppressedByName = null;
  }

  /** Sets the latest evidence. Newer evidence raises the revision. */
  showEvidence(evidenceId: string): void {
    if (this.evidenceId === evidenceId) return;
    this.evidenceId = evidenceId;
    this.revision += 1;
  }
}
DriftFindingSchema.setClass(DriftFinding);

/**
 * What a scan saw of a finding. The row never changes, except that somebody may cite it. A scan that sees the same again adds no evidence.
 */
export const DriftEvidenceSchema = defineEntity({
  name: 'DriftEvidence',
  tableName: 'drift_evidence',
  indexes: [{ name: 'drift_evidence_finding_index', properties: ['findingId', 'id'] }],
  properties: {
    id: id(),
    findingId: () => p.manyToOne(DriftFinding).mapToPk().fieldName('finding_id').deleteRule('restrict'),
    /** The scan. */
    runId: p.uuid(),
    /** What was expected, and what was found. Secrets are masked. */
    before: p.json<JsonValue>().nullable(),
    after: p.json<JsonValue>().nullable(),
    sensitive: p.boolean(),
    action: p.string().$type<ChangeAction>(),
    /** Why the scan did not know which value it expected; null: it did. */
    expectation: p.string().$type<Expectation>().nullable(),
    observed: p.string(),
    stateSerial: p.integer(),
    deployedRunId: p.uuid().nullable(),
    templateVersion: p.string(),
    tool: p.json<{ name: string; version: string }>().nullable(),
    /** The run that occupied the slot of the instance during the scan, such as a run that waited for approval. */
    slotHeldBy: p.uuid().nullable(),
    observedAt: at(),
    /** Whether a suppression or a remediation names it; then it is kept as long as the finding. */
    cited: p.boolean().default(false),
  },
});
export class DriftEvidence extends DriftEvidenceSchema.class {}
DriftEvidenceSchema.setClass(DriftEvidence);
