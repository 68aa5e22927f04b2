import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { EvidenceDetails, FindingDetails } from '#domain/drift/findings/list-store.ts';
import { findingReasons, findingStatuses } from '#domain/drift/findings/model.ts';
import { monitorScopes, remediationDirections, scanTriggers } from '#domain/drift/model.ts';
import type { MonitorDetails } from '#domain/drift/monitors/list-store.ts';
import { isStale } from '#domain/drift/monitors/staleness.ts';
import type { ScanDetails } from '#domain/drift/scans/list-store.ts';
import { changeActions, expectations } from '#domain/runs/plans/model.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { findingActions, monitorActions } from './actions.ts';

const monitorFields = {
  id: AnswerId,
  scope: z.enum(monitorScopes),
  team_id: AnswerId.nullable(),
  instance_id: AnswerId.nullable(),
  environment_id: AnswerId.nullable(),
  template_id: AnswerId.nullable(),
  inherited_from: AnswerId.nullable().describe(
    'The monitor of an environment or a template whose schedule it follows.',
  ),
  schedule: z.union([z.object({ every: z.string() }), z.object({ cron: z.string(), timezone: z.string() })]),
  enabled: z.boolean(),
  open_findings: z.int(),
  suppressed_findings: z.int(),
  scan_run_id: AnswerId.nullable().describe('The run that scans now.'),
  last_scan_at: Time.nullable(),
  last_success_at: Time.nullable(),
  instance_changed_at: Time.nullable().describe(
    'When a run last changed the instance, or began to, after the last successful scan. Null: none did.',
  ),
  stale: z
    .boolean()
    .describe(
      'Three of its times have passed without a successful scan, whatever the cause: the present state of the instance is unknown.',
    ),
  last_failure: z
    .object({ at: Time, code: z.string(), message: z.string(), run_id: AnswerId.nullable() })
    .nullable()
    .describe('Why the last scan had no result; null if it succeeded, or if there was none.'),
  scan_refusal: z
    .object({ code: z.string(), message: z.string() })
    .nullable()
    .describe(
      'Why its instance cannot be scanned, so that its schedule starts no scan: `nothing_deployed`, `operation_unsupported`, `archived` or `nothing_to_run_for`. ' +
        'Null: it can be, or the monitor is one of an environment or a template, which scans nothing itself.',
    ),
  inputs_changed: z
    .boolean()
    .describe(
      'Outputs of other instances that its instance was deployed with are other ones by now. Scans compare with the deployment, so that this is no deviation.',
    ),
  created_at: Time,
  revision: z.int(),
};

export const ListedMonitorView = z.object(monitorFields).meta({ id: 'ListedDriftMonitor' });
export const MonitorView = z.object({ ...monitorFields, actions: monitorActions.view }).meta({ id: 'DriftMonitor' });

/** @param refusal why its instance cannot be scanned */
export function toMonitor(monitor: MonitorDetails, refusal: Refusal | null = null): z.output<typeof ListedMonitorView> {
  const { lastFailure } = monitor;
  return answerOf(ListedMonitorView.shape, {
    ...monitor,
    stale: isStale(monitor),
    lastFailure: lastFailure && {
      at: lastFailure.at,
      code: lastFailure.code,
      message: lastFailure.message,
      run_id: lastFailure.runId,
    },
    scanRefusal: refusal && { code: refusal.code, message: refusal.message },
    inputsChanged: monitor.haveInputsChanged,
  });
}

export const ScanView = z
  .object({
    run_id: AnswerId,
    trigger: z.enum(scanTriggers),
    status: z.enum(runStatuses),
    status_reason: z.string().nullable(),
    found: z
      .int()
      .nullable()
      .describe('How many deviations it found beside the ignored ones. Null until it has a result.'),
    failing_checks: z
      .int()
      .nullable()
      .describe('How many checks of the configuration failed. They are no deviations, and open no findings.'),
    ignored: z.int().nullable().describe('How many deviations ignore rules left out. They are not part of `found`.'),
    opened: z.int().nullable(),
    resolved: z.int().nullable(),
    created_at: Time,
    finished_at: Time.nullable(),
  })
  .meta({ id: 'DriftScan' });

export function toScan(scan: ScanDetails): z.output<typeof ScanView> {
  return answerOf(ScanView.shape, { ...scan, runId: scan.id, statusReason: scan.reason });
}

export const EvidenceView = z
  .object({
    id: AnswerId,
    run_id: AnswerId.describe('The scan that saw it.'),
    before: z.unknown().describe('What was expected. Null: nothing. A secret is `{"sensitive": true}`.'),
    after: z.unknown().describe('What was found. Null: nothing.'),
    sensitive: z.boolean(),
    action: z.enum(changeActions),
    expectation: z
      .enum(expectations)
      .nullable()
      .describe(
        'Why the scan cannot say which value it expected. Nobody has changed the found value. `perpetual`: the configuration gives the attribute another value at each plan, ' +
          'for example by `timestamp()`, so each scan finds it. Add `ignore_changes` for it to the resource, or suppress the finding: the suppression also holds for the value that the next apply makes. ' +
          '`unknown`: only an apply would know the value, and it may depend on a resource that differs as well. Null: `before` is what was expected.',
      ),
    state_serial: z.int(),
    template_version: z.string(),
    tool: z.object({ name: z.string(), version: z.string() }).nullable(),
    slot_held_by: AnswerId.nullable().describe('The run that held the instance during the scan.'),
    observed_at: Time,
  })
  .meta({ id: 'DriftEvidence' });

type ShownEvidence = Omit<EvidenceDetails, 'observedAt'> & { readonly observedAt: string };

export function toEvidence(evidence: ShownEvidence): z.output<typeof EvidenceView> {
  return answerOf(EvidenceView.shape, evidence);
}

const findingFields = {
  id: AnswerId,
  monitor_id: AnswerId,
  team_id: AnswerId.nullable(),
  instance_id: AnswerId,
  address: z.string(),
  path: z.string().describe('The attribute. Empty: the whole resource is gone or new.'),
  status: z.enum(findingStatuses),
  reason: z.enum(findingReasons),
  first_seen_at: Time,
  last_seen_at: Time,
  seen_count: z.int().describe('How many scans saw it.'),
  last_run_id: AnswerId.describe('The scan that saw it last.'),
  suppression: z
    .object({ reason: z.string(), until: Time, by: z.string() })
    .nullable()
    .describe('The observed value is accepted until this time. Another value opens the finding again.'),
  reopen_reason: z.string().nullable(),
  remediation_run_id: AnswerId.nullable().describe(
    'The run that is under way to remedy it; null: none is. `GET /runs?drift_finding_id=` lists also those that have ended.',
  ),
  evidence: EvidenceView.describe('The latest evidence.'),
  revision: z
    .int()
    .describe(
      'Rises with each new evidence and each change of the status. To be seen once more does not raise it, and `remediation_run_id` and `actions` change without it, ' +
        'because they say how other resources are.',
    ),
};

export const ListedFindingView = z.object(findingFields).meta({ id: 'ListedDriftFinding' });
export const FindingView = z
  .object({
    ...findingFields,
    remediation_directions: z
      .array(z.enum(remediationDirections))
      .describe(
        'What a remediation may do: a template of commands has no state, so `adopt` is not among its directions.',
      ),
    actions: findingActions.view,
  })
  .meta({ id: 'DriftFinding' });

export function toFinding(finding: FindingDetails): z.output<typeof ListedFindingView> {
  const { suppressedUntil, suppressionReason, suppressedByName } = finding;
  return answerOf(ListedFindingView.shape, {
    ...finding,
    suppression:
      suppressedUntil === null
        ? null
        : { reason: suppressionReason ?? '', until: suppressedUntil, by: suppressedByName ?? '' },
    evidence: toEvidence(finding.evidence),
  });
}
