import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import { AuditSealSchema } from './chain/entity.ts';
import { AuditRecordSchema } from './entity.ts';
import { auditKinds } from './ownership.ts';
import { auditRetention } from './retention.ts';

export const entities = [AuditRecordSchema, AuditSealSchema] as const;
export const ownership = auditKinds;

export const systemActions = {
  'audit_records.expired': {
    summary: 'Remove the audit records of a month that is out of retention',
    resourceType: 'audit_records',
    actor: 'retention',
  },
} as const satisfies Record<string, DeclaredAction>;
export const retention = { audit: auditRetention };
