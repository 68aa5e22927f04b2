import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt } from '#database/columns.ts';

/**
 * A seal, which proves the content of the audit records up to a moment. Each seal covers the records after those of the previous seal. Rows
 * never change.
 */
export const AuditSealSchema = defineEntity({
  name: 'AuditSeal',
  tableName: 'audit_seals',
  properties: {
    /** Counts the seals from 1, without gaps. */
    position: p.integer().primary().autoincrement(false),
    /** The last record that it covers, in the order of time and id. */
    untilAt: at(),
    untilId: p.uuid(),
    /** How many records it covers. */
    records: p.integer(),
    /** SHA-256 over the records. */
    content: p.blob(),
    /** HMAC over all of the above and the seal before. */
    seal: p.blob(),
    createdAt: createdAt(),
  },
});
export class AuditSeal extends AuditSealSchema.class {}
AuditSealSchema.setClass(AuditSeal);
