import { type SqlBool, sql } from 'kysely';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'the record of what was approved stays; it gives nothing while what it names is not as it was';

/** The team, or else the organization, that owned the place when this was made. It never changes: after a transfer the row has ended. */
const shareOwners = [
  { kind: 'team', columns: ['owner_id'], kept: history },
  { kind: 'organization', columns: ['owner_id'], kept: history },
] as const;

export const pluginKinds = [
  {
    kind: 'plugin_installation',
    table: 'plugin_installations',
    label: 'name',
    owners: [
      {
        kind: 'team',
        columns: ['team_id'],
        kept: 'an installation cannot be found without its owner',
      },
      {
        kind: 'organization',
        columns: ['organization_id'],
        kept: 'an installation cannot be found without its owner',
      },
    ],
    references: [
      { kind: 'principal', columns: ['created_by'], kept: history },
      { kind: 'principal', columns: ['deleted_by'], kept: history },
    ],
  },
  {
    kind: 'plugin_release',
    table: 'plugin_releases',
    label: 'release',
    owners: [{ kind: 'plugin_installation', columns: ['installation_id'], kept: 'a release never changes' }],
    references: [{ kind: 'principal', columns: ['staged_by'], kept: history }],
  },
  {
    kind: 'plugin_action',
    table: 'plugin_actions',
    label: 'name',
    owners: [{ kind: 'plugin_installation', columns: ['installation_id'], kept: history }],
  },
  {
    kind: 'plugin_ceiling',
    table: 'plugin_ceilings',
    key: ['installation_id'],
    owners: [{ kind: 'plugin_installation', columns: ['installation_id'], kept: history }],
    references: [{ kind: 'principal', columns: ['set_by'], kept: history }],
  },
  {
    kind: 'plugin_background_principal',
    table: 'plugin_background_principals',
    extends: 'principal',
    owners: [{ kind: 'plugin_installation', columns: ['installation_id'], kept: history }],
    references: [
      ...shareOwners,
      { kind: 'principal', columns: ['approved_by'], kept: history },
      { kind: 'principal', columns: ['revoked_by'], kept: history },
    ],
  },
  {
    kind: 'plugin_action_grant',
    table: 'plugin_action_grants',
    owners: [{ kind: 'plugin_action', columns: ['action_id'], kept: history }],
    references: [
      { kind: 'plugin_installation', columns: ['installation_id'], kept: history },
      ...shareOwners,
      { kind: 'principal', columns: ['subject_id'], kept: history },
      { kind: 'principal', columns: ['granted_by'], kept: history },
      { kind: 'principal', columns: ['revoked_by'], kept: history },
    ],
  },
  {
    kind: 'plugin_resource',
    table: 'plugin_resources',
    label: 'name',
    revision: true,
    generation: true,
    owners: [
      {
        kind: 'environment',
        columns: ['environment_id'],
        blocker: {
          message: 'has plugin resources',
          remedy: 'delete them first',
          when: (row) => sql<SqlBool>`${row('deleted_at')} is null`,
        },
        kept: 'a deleted resource keeps who owned it',
      },
      {
        kind: 'project',
        columns: ['project_id'],
        follows: 'environment',
        blocker: {
          message: 'has plugin resources',
          remedy: 'delete them first',
          when: (row) => sql<SqlBool>`${row('deleted_at')} is null`,
        },
        kept: 'a deleted resource keeps who owned it',
      },
      {
        kind: 'team',
        columns: ['team_id'],
        follows: 'project',
        blocker: {
          message: 'has plugin resources',
          remedy: 'delete them first',
          when: (row) => sql<SqlBool>`${row('deleted_at')} is null`,
        },
        kept: 'a deleted resource keeps who owned it',
      },
    ],
    references: [
      { kind: 'plugin_installation', columns: ['installation_id'], kept: history },
      { kind: 'principal', columns: ['created_by'], kept: history },
    ],
  },
  {
    kind: 'plugin_restoration',
    table: 'plugin_restorations',
    owners: [{ kind: 'plugin_resource', columns: ['resource_id'], kept: history }],
    references: [{ kind: 'principal', columns: ['requested_by'], kept: history }],
  },
] as const satisfies readonly Declaration[];
