import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, removedRevision, revision } from '#database/columns.ts';
import { Project } from '#domain/projects/entity.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ApprovalRule } from '#domain/shared/vocabulary/approval.ts';
import type { StoredHold } from '#domain/shared/vocabulary/holds.ts';
import type { RunOptionName } from '#domain/shared/vocabulary/run-options.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import type { VariableCategory } from '#domain/variables/model.ts';
import type { FreezeWindow } from './freeze-windows.ts';
import type { EnvironmentKind, PlanSecretsDemand } from './model.ts';

export const EnvironmentSchema = defineEntity({
  name: 'Environment',
  tableName: 'environments',
  uniques: [
    {
      name: 'environments_project_slug_unique',
      expression:
        'create unique index "environments_project_slug_unique" on "environments" ("project_id", "slug") where "deleted_at" is null',
    },
  ],
  properties: {
    id: id(),
    projectId: () => p.manyToOne(Project).mapToPk().fieldName('project_id').deleteRule('restrict'),
    name: p.string(),
    slug: p.string(),
    kind: p.string().$type<EnvironmentKind>(),
    approvalRequired: p.integer(),
    approvalWhen: p.string().$type<ApprovalRule>(),
    approvalAllowSelf: p.boolean(),
    /** Seconds after which a deployment is due for destruction; null: never. */
    ttlSeconds: p.integer().nullable(),
    /** The isolation that a worker must have to execute runs of this environment; null: any. */
    isolation: p.string().$type<'sandbox'>().nullable(),
    /** The options that its runs may use; null: the defaults of its kind. */
    allowedOptions: p.json<RunOptionName[]>().nullable(),
    /** Which secrets planning may get; null: the same as applying. */
    planSecrets: p.string().$type<PlanSecretsDemand>().nullable(),
    /** The tool that its runs use; null: the tool of their templates. */
    tool: p.json<WantedTool>().nullable(),
    /** The lock, which keeps applies from starting until it is removed or expires; null: not locked. */
    lock: p.json<StoredHold>().nullable(),
    freezeWindows: p.json<FreezeWindow[]>().default([]),
    eligibilityGeneration: p.integer().default(1),
    revision: revision(),
    removedVariableRevision: removedRevision(),
    /** Rises with every change of its variables. */
    variablesRevision: revision(),
    createdAt: createdAt(),
    archivedAt: at().nullable(),
    deletedAt: at().nullable(),
  },
});
export class Environment extends EnvironmentSchema.class {}
EnvironmentSchema.setClass(Environment);

export const EnvironmentVariableSchema = defineEntity({
  name: 'EnvironmentVariable',
  tableName: 'environment_variables',
  properties: {
    environmentId: () =>
      p.manyToOne(Environment).primary().mapToPk().fieldName('environment_id').deleteRule('restrict'),
    name: p.string().primary(),
    category: p.string().$type<VariableCategory>(),
    sensitive: p.boolean(),
    /** The JSON value of a variable that is not sensitive. */
    value: p.json<JsonValue>().nullable(),
    /** The sealed JSON value of a sensitive variable. */
    sealedValue: p.blob().nullable().hidden(),
    /** The value that planning gets instead; null: the same value. */
    planValue: p.json<JsonValue>().nullable(),
    sealedPlanValue: p.blob().nullable().hidden(),
    /** Whether the planning of runs gets it. */
    inPlan: p.boolean().default(true),
    /** Whether the applying of runs gets it. */
    inApply: p.boolean().default(true),
    /** The principal who set its value; null: set before the service kept this. */
    setBy: p.uuid().nullable(),
    revision: revision(),
    updatedAt: at(),
  },
});
export class EnvironmentVariable extends EnvironmentVariableSchema.class {}
EnvironmentVariableSchema.setClass(EnvironmentVariable);
