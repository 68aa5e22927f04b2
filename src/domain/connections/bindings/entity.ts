import { defineEntity, p } from '@mikro-orm/core';
import { at, id } from '#database/columns.ts';
import { Environment } from '#domain/environments/entity.ts';
import { Project } from '#domain/projects/entity.ts';
import { Connection } from '../entity.ts';

/** A connection that a project or an environment provides to its runs, under the name that templates use. */
export const ConnectionBindingSchema = defineEntity({
  name: 'ConnectionBinding',
  tableName: 'connection_bindings',
  indexes: [
    { name: 'connection_bindings_connection_id_index', properties: ['connectionId'] },
    { name: 'connection_bindings_bound_by_index', properties: ['boundBy'] },
  ],
  uniques: [
    {
      name: 'connection_bindings_project_unique',
      expression:
        'create unique index "connection_bindings_project_unique" on "connection_bindings" ("project_id", "name") where "project_id" is not null',
    },
    {
      name: 'connection_bindings_environment_unique',
      expression:
        'create unique index "connection_bindings_environment_unique" on "connection_bindings" ("environment_id", "name") where "environment_id" is not null',
    },
  ],
  checks: [{ name: 'connection_bindings_place', expression: `num_nonnulls("project_id", "environment_id") = 1` }],
  properties: {
    id: id(),
    projectId: () => p.manyToOne(Project).mapToPk().fieldName('project_id').deleteRule('restrict').nullable(),
    environmentId: () =>
      p.manyToOne(Environment).mapToPk().fieldName('environment_id').deleteRule('restrict').nullable(),
    name: p.string(),
    connectionId: () => p.manyToOne(Connection).mapToPk().fieldName('connection_id').deleteRule('cascade'),
    inPlan: p.boolean(),
    inApply: p.boolean(),
    boundBy: p.uuid(),
    /** The generation of the principal when it made the binding. If the principal is ever disabled, the binding ends permanently. */
    boundByGeneration: p.integer(),
    /**
     * The membership in the team by which the principal bound it: leaving the team ends the binding permanently. Null: the principal had
     * none.
     */
    boundByMembership: p.uuid().nullable(),
    boundAt: at(),
    /** When a transfer of the place ended it, even if the place has returned since; null: no transfer has. */
    voidSince: at().nullable(),
  },
});
export class ConnectionBinding extends ConnectionBindingSchema.class {}
ConnectionBindingSchema.setClass(ConnectionBinding);
