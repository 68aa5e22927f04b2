import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { ownerColumns } from '#domain/owners/columns.ts';
import type { ConnectionKind } from './kinds/kinds.ts';

export const ConnectionSchema = defineEntity({
  name: 'Connection',
  tableName: 'connections',
  uniques: [
    // The constraint treats nulls as equal, so names are unique for each owner and for the installation.
    { name: 'connections_owner_name_unique', properties: ['organizationId', 'teamId', 'projectId', 'name'] },
  ],
  indexes: [
    { name: 'connections_team_id_index', properties: ['teamId'] },
    { name: 'connections_project_id_index', properties: ['projectId'] },
  ],
  checks: [
    {
      name: 'connections_owner_check',
      expression:
        '("project_id" is null or "team_id" is not null) and ("organization_id" is null or "team_id" is null)',
    },
  ],
  properties: {
    id: id(),
    ...ownerColumns,
    name: p.string(),
    kind: p.string().$type<ConnectionKind>(),
    config: p.json<Record<string, unknown>>(),
    /** The environment variables that an attempt gets from it. */
    provides: p.json<string[]>(),
    sealedKey: p.blob().hidden(),
    sealedCredentials: p.blob().hidden(),
    /** How often credentials were set. Their seals are bound to it. */
    credentialRevision: p.integer(),
    credentialsSetAt: at(),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class Connection extends ConnectionSchema.class {}
ConnectionSchema.setClass(Connection);
