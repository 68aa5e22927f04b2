import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'an assembly run keeps what it was about and who asked for it';
const published = 'a version records for good who published it and who is responsible for it';

const unfinished = {
  message: 'has assembly runs that have not ended',
  remedy: 'cancel them or let them end first',
  when: (row: Row<'finishedAt'>) => sql<SqlBool>`${row('finishedAt')} is null`,
  includes: 'deleted',
} as const;

export const assemblyKinds = [
  {
    kind: 'assembly',
    table: 'assemblies',
    label: 'slug',
    revision: true,
    tombstone: true,
    archivable: true,
    slug: { constraint: 'assemblies_team_slug_unique' },
    owners: [
      {
        kind: 'team',
        columns: ['teamId'],
        blocker: { message: 'has assemblies that are not archived', remedy: 'archive them first', includes: 'active' },
        cascade: {
          rows: 'ended',
          at: 'deletedAt',
          when: (row) => sql<SqlBool>`${row('deletedAt')} is null`,
          revised: true,
        },
      },
    ],
    references: [{ kind: 'principal', columns: ['draftChangedBy'], kept: 'a draft keeps who changed it last' }],
  },
  {
    kind: 'assembly_version',
    table: 'assembly_versions',
    label: 'version',
    owners: [{ kind: 'assembly', columns: ['assemblyId'], kept: 'runs name the version that they ran' }],
    references: [
      { kind: 'principal', columns: ['publishedBy'], kept: published },
      { kind: 'principal', columns: ['responsibleUserId'], kept: published },
    ],
  },
  {
    kind: 'assembly_run',
    table: 'assembly_runs',
    label: (row) => sql<string>`${row('id')}::text`,
    revision: true,
    owners: [
      { kind: 'environment', columns: ['environmentId'], kept: history },
      { kind: 'team', columns: ['teamId'], follows: 'environment', kept: history },
    ],
    references: [
      {
        kind: 'assembly',
        columns: ['assemblyId'],
        kept: history,
        blocker: { ...unfinished, preventsArchiving: true },
      },
      { kind: 'assembly_version', columns: ['assemblyVersionId'], kept: history },
      { kind: 'project', columns: ['projectId'], follows: 'environment', kept: history },
      { kind: 'principal', columns: ['requestedById'], kept: history },
      { kind: 'principal', columns: ['authorityId'], kept: history },
      { kind: 'principal', columns: ['responsibleUserId'], kept: history },
      {
        kind: 'principal',
        columns: ['authors'],
        matches: (row, id) =>
          sql<SqlBool>`${row('authors')} @> jsonb_build_array(jsonb_build_object('id', ${id}::text))`,
        kept: history,
      },
    ],
    uses: [{ ...unfinished, prevents: ['deletion', 'archiving', 'transfer'] }],
  },
  {
    kind: 'assembly_node',
    table: 'assembly_nodes',
    label: 'key',
    owners: [{ kind: 'assembly_run', columns: ['assemblyRunId'], kept: history }],
    references: [
      { kind: 'template', columns: ['templateId'], kept: history },
      { kind: 'templateVersion', columns: ['templateVersionId'], kept: history },
      { kind: 'run', columns: ['runId'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
