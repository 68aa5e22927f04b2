import type { AuditedAction } from '#domain/shared/audit.ts';
import { mergeParts, type RecordOf } from './areas.ts';

type SystemActions = RecordOf<'systemActions'>;

/**
 * Everything that the service does by itself and records in the audit. Together with the actions of the operations, this is the
 * catalogue of the audit.
 */
export const systemActions: SystemActions = mergeParts('systemActions');

export type SystemAction = keyof SystemActions;

/** What the audit record of a system action says was done. */
export function auditedAction(action: SystemAction): AuditedAction {
  return { action, resourceType: systemActions[action].resourceType };
}
