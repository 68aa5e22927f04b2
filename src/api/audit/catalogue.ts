import { resourceTypeOf } from '#api/pipeline/audit/audited-resource.ts';
import { actionOf } from '#api/pipeline/audit/auditing.ts';
import { isPublic, type Operation } from '#api/pipeline/operation.ts';
import type { RecordKind } from '#domain/audit/model.ts';
import { systemActions } from '#domain/system-actions.ts';

export interface AuditCatalogueEntry {
  readonly action: string;
  /** The operation that leaves such records; null if the service leaves them without a request. */
  readonly operation: string | null;
  readonly summary: string;
  /** The kind of record. A read changes nothing, and leaves a record only of its denials unless its declaration says otherwise. */
  readonly kind: RecordKind;
  readonly resource_type: string;
  readonly outcomes: readonly ('committed' | 'refused')[];
}

/** Every action that an audit record may name: those of the operations' declarations, and those of the service itself. */
export function auditCatalogue(operations: readonly Operation[]): AuditCatalogueEntry[] {
  const entries: AuditCatalogueEntry[] = operations.filter(isRecorded).map((operation) => ({
    action: actionOf(operation),
    operation: operation.id,
    summary: operation.summary,
    kind: operation.kind === 'command' ? 'change' : 'read',
    resource_type: resourceTypeOf(operation),
    outcomes: operation.audit === undefined ? ['refused'] : ['committed', 'refused'],
  }));
  for (const [action, { summary, resourceType }] of Object.entries(systemActions)) {
    entries.push({
      action,
      operation: null,
      summary,
      kind: 'change',
      resource_type: resourceType,
      outcomes: ['committed'],
    });
  }
  return entries.sort((one, other) => compare(one.action, other.action));
}

/**
 * Actions of operations that earlier releases had and that changed nothing. When you remove or rename such an operation, add its old
 * action. Otherwise, the verification of the audit would report its records as hidden changes.
 */
const retiredReads: readonly string[] = [];

/** The actions of operations that change nothing. */
export function readActions(operations: readonly Operation[]): string[] {
  const reads = auditCatalogue(operations).filter(({ kind }) => kind === 'read');
  return [...reads.map(({ action }) => action), ...retiredReads];
}

/** Whether an operation leaves records. A public operation that only reads leaves none. */
function isRecorded({ audit, access }: Operation): boolean {
  return audit !== undefined || !isPublic(access);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
