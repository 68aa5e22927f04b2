import { type SqlBool, sql } from 'kysely';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'the record of what was approved stays; it gives nothing while what it names is not as it was';

/** The team, or else the organization, that owned the place when this was made. It never changes: after a transfer the row has ended. */
const shareOwners = [
  { kind: 'team', columns: ['ownerId'], kept: history },
  { kind: 'organization', columns: ['ownerId'], kept: history },
] as const;

export const pluginKinds = [
  {
    kind: 'plugin_installation',
    table: 'plugin_installations',
    label: 'name',
    owners: [
      {
        kind: 'team',
        columns: ['teamId'],
        kept: 'an installation cannot be found without its owner',
      },
      {
        kind: 'organization',
        columns: ['organizationId'],
        kept: 'an installation cannot be found without its owner',
      },
    ],
    references: [
      { kind: 'principal', columns: ['createdBy'], kept: history },
      { kind: 'principal', columns: ['deletedBy'], kept: history },
    ],
  },
  {
    kind: 'plugin_release',
    table: 'plugin_releases',
    label: 'release',
    owners: [{ kind: 'plugin_installation', columns: ['installationId'], kept: 'a release never changes' }],
    references: [{ kind: 'principal', columns: ['stagedBy'], kept: history }],
  },
  {
    kind: 'plugin_action',
    table: 'plugin_actions',
    label: 'name',
    owners: [{ kind: 'plugin_installation', columns: ['installationId'], kept: history }],
  },
  {
    kind: 'plugin_ceiling',
    table: 'plugin_ceilings',
    key: ['installationId'],
    owners: [{ kind: 'plugin_installation', columns: ['installationId'], kept: history }],
    references: [{ kind: 'principal', columns: ['setBy'], kept: history }],
  },
  {
    kind: 'plugin_background_principal',
    table: 'plugin_background_principals',
    extends: 'principal',
    owners: [{ kind: 'plugin_installation', columns: ['installationId'], kept: history }],
    references: [
      ...shareOwners,
      { kind: 'principal', columns: ['approvedBy'], kept: history },
      { kind: 'principal', columns: ['revokedBy'], kept: history },
    ],
  },
  {
    kind: 'plugin_action_grant',
    table: 'plugin_action_grants',
    owners: [{ kind: 'plugin_action', columns: ['actionId'], kept: history }],
    references: [
      { kind: 'plugin_installation', columns: ['installationId'], kept: history },
      ...shareOwners,
      { kind: 'principal', columns: ['subjectId'], kept: history },
      { kind: 'principal', columns: ['grantedBy'], kept: history },
      { kind: 'principal', columns: ['revokedBy'], kept: history },
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
        columns: ['environmentId'],
        blocker: {
          message: 'has plugin resources',
          remedy: 'delete them first',
          when: (row) => sql<SqlBool>`${row('deletedAt')} is null`,
        },
        kept: 'a deleted resource keeps who owned it',
      },
      {
        kind: 'project',
        columns: ['projectId'],
        follows: 'environment',
        blocker: {
          message: 'has plugin resources',
          remedy: 'delete them first',
          when: (row) => sql<SqlBool>`${row('deletedAt')} is null`,
        },
        kept: 'a deleted resource keeps who owned it',
      },
      {
        kind: 'team',
        columns: ['teamId'],
        follows: 'project',
        blocker: {
          message: 'has plugin resources',
          remedy: 'delete them first',
          when: (row) => sql<SqlBool>`${row('deletedAt')} is null`,
        },
        kept: 'a deleted resource keeps who owned it',
      },
    ],
    references: [
      { kind: 'plugin_installation', columns: ['installationId'], kept: history },
      { kind: 'principal', columns: ['createdBy'], kept: history },
    ],
  },
  {
    kind: 'plugin_restoration',
    table: 'plugin_restorations',
    owners: [{ kind: 'plugin_resource', columns: ['resourceId'], kept: history }],
    references: [{ kind: 'principal', columns: ['requestedBy'], kept: history }],
  },
] as const satisfies readonly Declaration[];
