import { type SqlBool, sql } from 'kysely';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';
import { voidOnTransfer } from '#domain/shared/ownership-graph/voiding.ts';

const history = 'a version records for good who published it, who is responsible for it and who yanked it';
const maskedForGood = 'runs of a deleted template still mask its secret outputs';

export const registryKinds = [
  {
    kind: 'template',
    table: 'templates',
    label: 'slug',
    revision: true,
    tombstone: true,
    archivable: true,
    slug: {
      constraint: 'templates_team_slug_unique',
      taken: `the slug "{slug}" is another template's: choose another one`,
    },
    owners: [
      {
        kind: 'team',
        columns: ['team_id'],
        blocker: { message: 'has templates that are not archived', remedy: 'archive them first', includes: 'active' },
        cascade: {
          rows: 'ended',
          at: 'deleted_at',
          when: (row) => sql<SqlBool>`${row('deleted_at')} is null`,
          revised: true,
        },
      },
    ],
  },
  {
    kind: 'template_version',
    table: 'template_versions',
    label: 'version',
    owners: [{ kind: 'template', columns: ['template_id'], kept: 'runs name the version that they ran' }],
    references: [
      { kind: 'principal', columns: ['published_by'], kept: history },
      { kind: 'principal', columns: ['responsible_user_id'], kept: history },
      { kind: 'principal', columns: ['yanked_by'], kept: history },
      {
        kind: 'worker_pool',
        columns: [],
        matches: (row, name) => sql<SqlBool>`${row('spec')} ->> 'pool' = ${name}`,
        blocker: {
          message: 'has template versions that name it',
          remedy: 'yank them or archive their templates first',
          when: (row) => sql<SqlBool>`${row('yanked_at')} is null`,
          names: ['template', 'template_version'],
          separator: ' ',
          includes: 'active',
        },
      },
    ],
  },
  {
    kind: 'template_check',
    table: 'template_checks',
    owners: [
      { kind: 'template', columns: ['template_id'], cascade: { rows: 'deleted' } },
      { kind: 'template_version', columns: ['version_id'], cascade: { rows: 'deleted' } },
    ],
    references: [
      { kind: 'environment', columns: ['environment_id'], cascade: { rows: 'deleted' } },
      { kind: 'principal', columns: ['requested_by'], kept: 'a check ends within minutes, or waits for a worker' },
      {
        kind: 'principal',
        columns: ['responsible_user_id'],
        kept: 'a check ends within minutes, or waits for a worker',
      },
    ],
  },
  {
    kind: 'template_secret_output',
    table: 'template_secret_outputs',
    key: ['template_id', 'name', 'version_id'],
    owners: [
      { kind: 'template_version', columns: ['version_id'], kept: maskedForGood },
      { kind: 'template', columns: ['template_id'], kept: maskedForGood },
    ],
  },
  {
    kind: 'template_version_modules',
    table: 'template_version_modules',
    owners: [
      {
        kind: 'template_version',
        columns: ['template_version_id'],
        kept: 'a version keeps its modules for good',
        onTransfer: voidOnTransfer,
      },
    ],
    references: [
      { kind: 'environment', columns: ['environment_id'], cascade: { rows: 'deleted' }, onTransfer: voidOnTransfer },
    ],
  },
] as const satisfies readonly Declaration[];
