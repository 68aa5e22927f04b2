import type { AuditedAction } from '#domain/shared/audit.ts';

interface DeclaredAction {
  /** What the service does. */
  readonly summary: string;
  readonly resourceType: string;
  /** The part of the service that does it: the name of the actor in the audit. */
  readonly actor: string;
}

/**
 * Everything that the service does by itself and records in the audit. Together with the actions of the operations, this is the
 * catalogue of the audit.
 */
export const systemActions = {
  'assembly_run.engine_lost': {
    summary: 'End an assembly run whose workflow the engine has lost',
    resourceType: 'assembly_runs',
    actor: 'reconciliation',
  },
  'audit_records.expired': {
    summary: 'Remove the audit records of a month that is out of retention',
    resourceType: 'audit_records',
    actor: 'retention',
  },
  'connection.used': {
    summary: 'Give a worker the credentials of a connection, so that it can check a template with private modules',
    resourceType: 'connections',
    actor: 'template checks',
  },
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
  'events.expired': {
    summary: 'Remove the events of a month that is out of retention',
    resourceType: 'events',
    actor: 'retention',
  },
  'instance.expired': {
    summary: "Destroy what was deployed longer ago than its environment's time to live",
    resourceType: 'instances',
    actor: 'time to live',
  },
  'instance.state_recovered': {
    summary: 'Make a state that an ended attempt had written the latest state of its instance',
    resourceType: 'instances',
    actor: 'state recovery',
  },
  'instance.state_refused': {
    summary: 'Set aside a state that an attempt had written and that could not be stored',
    resourceType: 'instances',
    actor: 'state recovery',
  },
  'notification_channel.disabled': {
    summary: 'Disable a notification channel whose project or team got another owner',
    resourceType: 'notification_channels',
    actor: 'transfer',
  },
  'run.approval_timed_out': {
    summary: 'End a run that was not reviewed within the time for approval',
    resourceType: 'runs',
    actor: 'approval timeout',
  },
  'run.engine_lost': {
    summary: 'End a run whose workflow the engine has lost',
    resourceType: 'runs',
    actor: 'reconciliation',
  },
  'run.undone': {
    summary: 'Note that a run has taken back what another one changed',
    resourceType: 'runs',
    actor: 'selective undo',
  },
  'run_logs.expired': {
    summary: 'Remove the logs of runs of a month that is out of retention',
    resourceType: 'run_logs',
    actor: 'retention',
  },
  'run_plans.expired': {
    summary: 'Remove the plans of the runs of a month that is out of retention',
    resourceType: 'run_plans',
    actor: 'retention',
  },
  'secrets.resealed': {
    summary: 'Seal secrets anew with the newest key of the installation',
    resourceType: 'secrets',
    actor: 'command line',
  },
  'selective_undo.candidate_checked': {
    summary: 'Record which resources the plan of a candidate touches and the undone run did not',
    resourceType: 'selective_undo',
    actor: 'selective undo',
  },
  'selective_undo.checked': {
    summary: 'Record whether the instance was as its state says when the undo of a run was checked',
    resourceType: 'selective_undo',
    actor: 'selective undo',
  },
  'signing_key.created': {
    summary: 'Publish a new key for signing the tokens of runs, since the one before has signed long enough',
    resourceType: 'signing_keys',
    actor: 'key rotation',
  },
  'webhook.disabled': {
    summary:
      'Disable a webhook whose endpoint is gone, to which nothing could be delivered for days, or whose project or team got another owner',
    resourceType: 'webhooks',
    actor: 'webhook delivery',
  },
  'worker.lost': {
    summary: 'Report a worker that ended without deregistering, or whose heartbeats stopped',
    resourceType: 'workers',
    actor: 'worker supervision',
  },
  'worker.returned': {
    summary: 'Report a lost worker that sends heartbeats again',
    resourceType: 'workers',
    actor: 'worker supervision',
  },
} as const satisfies Record<string, DeclaredAction>;

export type SystemAction = keyof typeof systemActions;

/** What the audit record of a system action says was done. */
export function auditedAction(action: SystemAction): AuditedAction {
  return { action, resourceType: systemActions[action].resourceType };
}
