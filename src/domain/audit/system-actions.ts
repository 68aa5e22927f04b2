import type { AuditEntry } from '#domain/shared/audit.ts';

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

/** An entry of such an action. */
export function systemEntry(
  action: keyof typeof systemActions,
  id: string | null,
  after: Record<string, unknown>,
): AuditEntry {
  return { action, resource: { type: systemActions[action].resourceType, id }, after };
}
