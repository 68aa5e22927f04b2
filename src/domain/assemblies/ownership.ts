import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'an assembly run keeps what it was about and who asked for it';
const published = 'a version records for good who published it and who is responsible for it';

const unfinished = {
  message: 'has assembly runs that have not ended',
  remedy: 'cancel them or let them end first',
  when: (row: Row<'finished_at'>) => sql<SqlBool>`${row('finished_at')} is null`,
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
        columns: ['team_id'],
        blocker: { message: 'has assemblies that are not archived', remedy: 'archive them first', includes: 'active' },
        cascade: {
          rows: 'ended',
          at: 'deleted_at',
          when: (row) => sql<SqlBool>`${row('deleted_at')} is null`,
          revised: true,
        },
      },
    ],
    references: [{ kind: 'principal', columns: ['draft_changed_by'], kept: 'a draft keeps who changed it last' }],
  },
  {
    kind: 'assembly_version',
    table: 'assembly_versions',
    label: 'version',
    owners: [{ kind: 'assembly', columns: ['assembly_id'], kept: 'runs name the version that they ran' }],
    references: [
      { kind: 'principal', columns: ['published_by'], kept: published },
      { kind: 'principal', columns: ['responsible_user_id'], kept: published },
    ],
  },
  {
    kind: 'assembly_run',
    table: 'assembly_runs',
    label: (row) => sql<string>`${row('id')}::text`,
    revision: true,
    owners: [
      { kind: 'environment', columns: ['environment_id'], kept: history },
      { kind: 'team', columns: ['team_id'], follows: 'environment', kept: history },
    ],
    references: [
      {
        kind: 'assembly',
        columns: ['assembly_id'],
        kept: history,
        blocker: { ...unfinished, preventsArchiving: true },
      },
      { kind: 'assembly_version', columns: ['assembly_version_id'], kept: history },
      { kind: 'project', columns: ['project_id'], follows: 'environment', kept: history },
      { kind: 'principal', columns: ['requested_by_id'], kept: history },
      { kind: 'principal', columns: ['authority_id'], kept: history },
      { kind: 'principal', columns: ['responsible_user_id'], kept: history },
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
    owners: [{ kind: 'assembly_run', columns: ['assembly_run_id'], kept: history }],
    references: [
      { kind: 'template', columns: ['template_id'], kept: history },
      { kind: 'template_version', columns: ['template_version_id'], kept: history },
      { kind: 'run', columns: ['run_id'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
