import { AuditSealSchema } from './chain/entity.ts';
import { AuditRecordSchema } from './entity.ts';
import { auditKinds } from './ownership.ts';

export const entities = [AuditRecordSchema, AuditSealSchema] as const;
export const ownership = auditKinds;
