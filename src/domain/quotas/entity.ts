import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { Limits, QuotaKind, QuotaScope } from '#domain/shared/vocabulary/quotas.ts';

/** The limits of the installation, an organization, a team or an environment. The use is counted on demand, and not stored here. */
export const QuotaSchema = defineEntity({
  name: 'Quota',
  tableName: 'quotas',
  checks: [
    {
      name: 'quotas_one_owner_check',
      expression: `num_nonnulls(organization_id, team_id, environment_id) = case scope when 'installation' then 0 else 1 end`,
    },
  ],
  uniques: [
    {
      name: 'quotas_installation_unique',
      expression: `create unique index "quotas_installation_unique" on "quotas" ("scope") where "scope" = 'installation'`,
    },
    ...['organization', 'team', 'environment'].map((owner) => ({
      name: `quotas_${owner}_unique`,
      expression: `create unique index "quotas_${owner}_unique" on "quotas" ("${owner}_id") where "${owner}_id" is not null`,
    })),
  ],
  properties: {
    id: id(),
    scope: p.string().$type<QuotaScope>(),
    organizationId: p.uuid().nullable(),
    teamId: p.uuid().nullable(),
    environmentId: p.uuid().nullable(),
    /** The limits are validated whenever they are read: a damaged row refuses everything. */
    limits: p.json<Limits>(),
    revision: revision(),
    createdAt: createdAt(),
    updatedAt: at(),
    /**
     * When the quota was cleared: then it limits nothing, and only keeps its revision for the next quota of its owner. Null: it is in
     * force.
     */
    clearedAt: at().nullable(),
  },
});
export class Quota extends QuotaSchema.class {}
QuotaSchema.setClass(Quota);

/** Records that a quota was full, so that it is reported once. */
export const QuotaCrossingSchema = defineEntity({
  name: 'QuotaCrossing',
  tableName: 'quota_crossings',
  properties: {
    /** `team/<id>`. */
    subject: p.string().primary(),
    kind: p.string().$type<QuotaKind>().primary(),
    publishedAt: at(),
    /** Whether the use has dropped well below the limit since. */
    isOver: p.boolean(),
  },
});
export class QuotaCrossing extends QuotaCrossingSchema.class {}
QuotaCrossingSchema.setClass(QuotaCrossing);

/** The bytes of states and of logs of ended runs that an instance wrote in a month (UTC). */
export const InstanceUsageSchema = defineEntity({
  name: 'InstanceUsage',
  tableName: 'instance_usages',
  properties: {
    instanceId: p.uuid().primary(),
    month: p.date().primary(),
    stateBytes: p.bigint('string'),
    logBytes: p.bigint('string'),
  },
});
export class InstanceUsage extends InstanceUsageSchema.class {}
InstanceUsageSchema.setClass(InstanceUsage);
