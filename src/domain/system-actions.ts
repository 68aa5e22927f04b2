import type { AuditedAction } from '#domain/shared/audit.ts';
import { mergeParts, type RecordOf } from './areas.ts';

type SystemActions = RecordOf<'systemActions'>;

/**
 * All actions that the service does by itself and records in the audit. With the actions of the operations, they are the catalogue of the
 * audit.
 */
export const systemActions: SystemActions = mergeParts('systemActions');

export type SystemAction = keyof SystemActions;

/** The action that the audit records for a system action. */
export function auditedAction(action: SystemAction): AuditedAction {
  return { action, resourceType: systemActions[action].resourceType };
}
