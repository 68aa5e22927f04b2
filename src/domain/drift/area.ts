import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import type { EventSubscription } from '#domain/shared/events/event-type.ts';
import type { Feature } from '#domain/shared/features/feature.ts';
import { driftMonitorCandidates } from './candidates-store.ts';
import { DriftEvidenceSchema, DriftFindingSchema, DriftMonitorSchema, DriftScanSchema } from './entity.ts';
import { driftEvents } from './events.ts';
import { isWatched } from './interest-store.ts';
import { driftKinds } from './ownership.ts';

export const entities = [DriftMonitorSchema, DriftScanSchema, DriftFindingSchema, DriftEvidenceSchema] as const;
export const ownership = driftKinds;
export const events = driftEvents;

export const features = {
  drift: {
    title: 'Drift detection',
    operations: ['drift_monitors', 'drift_findings'],
    searched: ['drift_monitor'],
  },
} as const satisfies Record<string, Feature>;

export const subscriptions = [
  {
    subscriber: 'drift',
    types: ['run.finished', 'drift_monitor.created', 'drift_monitor.changed', 'drift_monitor.deleted'],
    concerns: { 'run.finished': isWatched },
  },
] as const satisfies readonly EventSubscription[];

export const systemActions = {
  'drift_finding.suppression_ended': {
    summary: 'End the suppression of a drift finding whose time is over',
    resourceType: 'drift_findings',
    actor: 'drift detection',
  },
  'drift_monitor.history_expired': {
    summary: 'Remove scans and findings of a drift monitor that are out of retention',
    resourceType: 'drift_monitors',
    actor: 'retention',
  },
  'drift_monitor.scan_started': {
    summary: 'Start a scan by the schedule of a drift monitor',
    resourceType: 'drift_monitors',
    actor: 'drift detection',
  },
} as const satisfies Record<string, DeclaredAction>;

export const errorCodes = {
  drift_monitor_exists: 'The instance, environment or template has a drift monitor already.',
  drift_monitor_inherited: 'An inherited drift monitor cannot be deleted by itself.',
  drift_monitor_scans_nothing:
    'The drift monitor watches an environment or a template, whose instances have monitors of their own.',
  drift_scan_running: 'A scan of the drift monitor is under way.',
  drift_finding_resolved: 'The deviation is gone.',
  drift_finding_not_suppressed: 'Only a suppressed finding can be reopened.',
  remediation_running: 'A run that remedies the drift finding has not ended.',
  evidence_stale: 'The evidence is not the latest of the finding, or the instance has changed since.',
} as const;
export const searched = { drift_monitor: driftMonitorCandidates };
