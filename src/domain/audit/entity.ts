import { defineEntity, p } from '@mikro-orm/core';
import { at, id } from '#database/columns.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';

/** One action that was done or refused. Migrations make the table, partitioned by month; rows never change. */
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
    /**
     * Whether the action changes nothing, such as a denied read. It keeps such records out of indexes. The action, not this column, decides
     * in which list a record appears.
     */
    isRead: p.boolean().default(false),
    outcome: p.string().$type<'committed' | 'refused'>(),
    requestId: p.string().nullable(),
    address: p.string().nullable(),
    before: p.json<Record<string, unknown>>().nullable(),
    after: p.json<Record<string, unknown>>().nullable(),
  },
});
