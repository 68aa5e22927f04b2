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
        columns: ['teamId'],
        blocker: { message: 'has templates that are not archived', remedy: 'archive them first', includes: 'active' },
        cascade: {
          rows: 'ended',
          at: 'deletedAt',
          when: (row) => sql<SqlBool>`${row('deletedAt')} is null`,
          revised: true,
        },
      },
    ],
  },
  {
    kind: 'templateVersion',
    table: 'template_versions',
    label: 'version',
    owners: [{ kind: 'template', columns: ['templateId'], kept: 'runs name the version that they ran' }],
    references: [
      { kind: 'principal', columns: ['publishedBy'], kept: history },
      { kind: 'principal', columns: ['responsibleUserId'], kept: history },
      { kind: 'principal', columns: ['yankedBy'], kept: history },
      {
        kind: 'worker_pool',
        columns: [],
        matches: (row, name) => sql<SqlBool>`${row('spec')} ->> 'pool' = ${name}`,
        blocker: {
          message: 'has template versions that name it',
          remedy: 'yank them or archive their templates first',
          when: (row) => sql<SqlBool>`${row('yankedAt')} is null`,
          names: ['template', 'templateVersion'],
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
      { kind: 'template', columns: ['templateId'], cascade: { rows: 'deleted' } },
      { kind: 'templateVersion', columns: ['versionId'], cascade: { rows: 'deleted' } },
    ],
    references: [
      { kind: 'environment', columns: ['environmentId'], cascade: { rows: 'deleted' } },
      { kind: 'principal', columns: ['requestedBy'], kept: 'a check ends within minutes, or waits for a worker' },
      {
        kind: 'principal',
        columns: ['responsibleUserId'],
        kept: 'a check ends within minutes, or waits for a worker',
      },
    ],
  },
  {
    kind: 'template_secret_output',
    table: 'template_secret_outputs',
    key: ['templateId', 'name', 'versionId'],
    owners: [
      { kind: 'templateVersion', columns: ['versionId'], kept: maskedForGood },
      { kind: 'template', columns: ['templateId'], kept: maskedForGood },
    ],
  },
  {
    kind: 'template_version_modules',
    table: 'template_version_modules',
    owners: [
      {
        kind: 'templateVersion',
        columns: ['templateVersionId'],
        kept: 'a version keeps its modules for good',
        onTransfer: voidOnTransfer,
      },
    ],
    references: [
      { kind: 'environment', columns: ['environmentId'], cascade: { rows: 'deleted' }, onTransfer: voidOnTransfer },
    ],
  },
] as const satisfies readonly Declaration[];
