import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { Project } from '#domain/projects/entity.ts';
import type { ApprovalRule } from '#domain/runs/model.ts';
import type { EnvironmentKind, VariableCategory } from './model.ts';

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
    /** Seconds after which what was deployed is due for destruction; null: it stays. */
    ttlSeconds: p.integer().nullable(),
    /** What a worker must have to execute runs of this environment; null: nothing. */
    isolation: p.string().$type<'sandbox'>().nullable(),
    eligibilityGeneration: p.integer().default(1),
    revision: revision(),
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
    /** The JSON value of a variable that is no secret. */
    value: p.json<unknown>().nullable(),
    /** The sealed JSON value of a secret one. */
    sealedValue: p.blob().nullable().hidden(),
    /** Whoever gave it the value that it has; null: set before this was kept. */
    setBy: p.uuid().nullable(),
    revision: revision(),
    updatedAt: at(),
  },
});
export class EnvironmentVariable extends EnvironmentVariableSchema.class {}
EnvironmentVariableSchema.setClass(EnvironmentVariable);
