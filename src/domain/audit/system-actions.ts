import type { AuditEntry, AuditedAction } from '#domain/shared/audit.ts';

/** What the service does unasked and leaves in the audit: beside the operations' own actions, the whole catalogue. */
export const systemActions = {
  'audit_records.expired': {
    summary: 'Remove the audit records of a month that is out of retention',
    resourceType: 'audit_records',
  },
  'instance.expired': {
    summary: "Destroy what was deployed longer ago than its environment's time to live",
    resourceType: 'instances',
  },
} as const satisfies Record<string, { summary: string; resourceType: string }>;

type SystemAction = keyof typeof systemActions;

/** What the audit row of a command says that the service does unasked. */
export function systemAction(action: SystemAction): AuditedAction {
  return { action, resourceType: systemActions[action].resourceType };
}

/** The entry of something that the service does unasked and that is no command. */
export function systemEntry(action: SystemAction, id: string | null, after: Record<string, unknown>): AuditEntry {
  return { action, resource: { type: systemActions[action].resourceType, id }, after };
}
