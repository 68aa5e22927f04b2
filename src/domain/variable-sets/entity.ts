import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, removedRevision, revision } from '#database/columns.ts';
import { Environment } from '#domain/environments/entity.ts';
import { ownerColumns } from '#domain/owners/columns.ts';
import { Project } from '#domain/projects/entity.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { VariableCategory } from '#domain/variables/model.ts';

/** A named set of variables that an organization, a team or a project owns. */
export const VariableSetSchema = defineEntity({
  name: 'VariableSet',
  tableName: 'variable_sets',
  indexes: [
    { name: 'variable_sets_team_id_index', properties: ['teamId'] },
    { name: 'variable_sets_project_id_index', properties: ['projectId'] },
  ],
  uniques: [
    {
      name: 'variable_sets_name_unique',
      expression:
        'create unique index "variable_sets_name_unique" on "variable_sets" ("organization_id", "team_id", "project_id", "name") nulls not distinct',
    },
  ],
  checks: [
    {
      name: 'variable_sets_owner',
      expression: `num_nonnulls("organization_id", "team_id") = 1 and ("project_id" is null or "team_id" is not null)`,
    },
  ],
  properties: {
    id: id(),
    ...ownerColumns,
    name: p.string(),
    description: p.text().default(''),
    removedVariableRevision: removedRevision(),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class VariableSet extends VariableSetSchema.class {}
VariableSetSchema.setClass(VariableSet);

/** A variable of a set. Its columns have the same meaning as those of an environment's variable. */
export const VariableSetVariableSchema = defineEntity({
  name: 'VariableSetVariable',
  tableName: 'variable_set_variables',
  properties: {
    variableSetId: () =>
      p.manyToOne(VariableSet).primary().mapToPk().fieldName('variable_set_id').deleteRule('cascade'),
    name: p.string().primary(),
    category: p.string().$type<VariableCategory>(),
    sensitive: p.boolean(),
    value: p.json<JsonValue>().nullable(),
    sealedValue: p.blob().nullable().hidden(),
    planValue: p.json<JsonValue>().nullable(),
    sealedPlanValue: p.blob().nullable().hidden(),
    inPlan: p.boolean().default(true),
    inApply: p.boolean().default(true),
    setBy: p.uuid().nullable(),
    revision: revision(),
    updatedAt: at(),
  },
});
export class VariableSetVariable extends VariableSetVariableSchema.class {}
VariableSetVariableSchema.setClass(VariableSetVariable);

/** The project or the environment whose runs get a set's variables. */
export const VariableSetAttachmentSchema = defineEntity({
  name: 'VariableSetAttachment',
  tableName: 'variable_set_attachments',
  indexes: [{ name: 'variable_set_attachments_variable_set_id_index', properties: ['variableSetId'] }],
  uniques: [
    {
      name: 'variable_set_attachments_project_unique',
      expression:
        'create unique index "variable_set_attachments_project_unique" on "variable_set_attachments" ("project_id", "variable_set_id") where "project_id" is not null',
    },
    {
      name: 'variable_set_attachments_environment_unique',
      expression:
        'create unique index "variable_set_attachments_environment_unique" on "variable_set_attachments" ("environment_id", "variable_set_id") where "environment_id" is not null',
    },
  ],
  checks: [{ name: 'variable_set_attachments_place', expression: `num_nonnulls("project_id", "environment_id") = 1` }],
  properties: {
    id: id(),
    variableSetId: () => p.manyToOne(VariableSet).mapToPk().fieldName('variable_set_id').deleteRule('cascade'),
    projectId: () => p.manyToOne(Project).mapToPk().fieldName('project_id').deleteRule('restrict').nullable(),
    environmentId: () =>
      p.manyToOne(Environment).mapToPk().fieldName('environment_id').deleteRule('restrict').nullable(),
    /** When a transfer moved the place away from the owner of the set. The place gets no variables until it is attached again. */
    voidSince: at().nullable(),
  },
});
export class VariableSetAttachment extends VariableSetAttachmentSchema.class {}
VariableSetAttachmentSchema.setClass(VariableSetAttachment);
