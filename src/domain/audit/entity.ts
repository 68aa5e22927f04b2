import { defineEntity, p } from '@mikro-orm/core';
import { at, id } from '#database/columns.ts';
import type { PrincipalKind } from '#domain/identity/model.ts';

/** One thing that was done or refused. Kept in months by time; migrations make the table, and nothing changes a row. */
export const AuditRecordSchema = defineEntity({
  name: 'AuditRecord',
  tableName: 'audit_records',
  properties: {
    id: id(),
    at: at().primary(),
    actorId: p.uuid().nullable(),
    actorType: p.string().$type<PrincipalKind>(),
    actorName: p.string(),
    credentialType: p.string().$type<'session' | 'api_key' | 'system'>().default('system'),
    credentialId: p.uuid().nullable(),
    action: p.string(),
    resourceType: p.string(),
    resourceId: p.string().nullable(),
    organizationId: p.uuid().nullable(),
    teamId: p.uuid().nullable(),
    outcome: p.string().$type<'committed' | 'refused'>(),
    requestId: p.string().nullable(),
    address: p.string().nullable(),
    before: p.json<Record<string, unknown>>().nullable(),
    after: p.json<Record<string, unknown>>().nullable(),
    /** The record's place in a chain of seals, and its seal; null until something seals it. */
    chainPosition: p.bigint('string').nullable(),
    seal: p.blob().nullable(),
  },
});
