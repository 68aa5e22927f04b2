import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';
import { hasIncompleteApply } from './incomplete-applies.ts';

const readers = 'a reader that was deleted reads nothing';
const allowedFor = 'its readers read nothing for other owners than those for whom they were allowed';
/** For good, also if it comes back: its present owners decide anew who reads it. */
const readersVoid = {
  rows: 'ended',
  at: 'readers_void_since',
  when: (row: Row<'readers_void_since' | 'readers_team_id'>) =>
    sql<SqlBool>`${row('readers_void_since')} is null and ${row('readers_team_id')} is not null`,
  withOwner: true,
} as const;
const history = 'what was deployed and what its states were outlives who did it and where';

const holdsResources = {
  message: 'has instances that still hold resources',
  remedy: 'destroy them first',
  when: (row: Row<'resource_count'>) => sql<SqlBool>`${row('resource_count')} > 0`,
} as const;

const mayHoldResources = {
  message: 'has instances whose last apply may be incomplete, so that they may hold resources that nothing records',
  remedy: 'apply or destroy them again first',
  // `holdsResources` reports the known ones.
  when: (row: Row<'resource_count' | 'id'>) =>
    sql<SqlBool>`${row('resource_count')} = 0 and ${hasIncompleteApply(row('id'))}`,
} as const;

/** No column names the assembly: runs of its nodes have applied the instance. */
const ofAssembly = {
  kind: 'assembly',
  columns: [],
  matches: (row: Row<'id'>, id: string) => sql<SqlBool>`exists (
    select from runs applied join assembly_runs of on of.id = applied.assembly_run_id
    where applied.instance_id = ${row('id')} and applied.operation = 'apply' and of.assembly_id = ${id}
  )`,
  kept: history,
} as const;

export const instanceKinds = [
  {
    kind: 'instance',
    table: 'instances',
    label: (row) => sql<string>`'"' || ${row('name')} || '"'`,
    revision: true,
    tombstone: true,
    owners: [
      { kind: 'environment', columns: ['environment_id'], kept: history, onTransfer: readersVoid },
      // The team of its environment; without an environment, the team of its template.
      { kind: 'team', columns: ['team_id'], follows: 'environment', kept: history },
    ],
    references: [
      { kind: 'template', columns: ['template_id'], kept: history, blocker: holdsResources },
      { kind: 'template', columns: ['template_id'], kept: history, blocker: mayHoldResources },
      { kind: 'run', columns: ['deployed_run_id'], kept: history },
      { kind: 'run', columns: ['unrecorded_run_id'], kept: history },
      { kind: 'run', columns: ['inputs_changed_run_id'], kept: history },
      { ...ofAssembly, blocker: holdsResources },
      { ...ofAssembly, blocker: mayHoldResources },
      {
        kind: 'team',
        columns: ['reader_team_ids'],
        kept: readers,
        onTransfer: { rows: 'unlisted', from: 'reader_team_ids' },
      },
      {
        kind: 'environment',
        columns: ['reader_environment_ids'],
        kept: readers,
        onTransfer: { rows: 'unlisted', from: 'reader_environment_ids', withOwner: true },
      },
      { kind: 'organization', columns: ['readers_organization_id'], kept: allowedFor },
      { kind: 'team', columns: ['readers_team_id'], kept: allowedFor },
    ],
    uses: [
      { ...holdsResources, prevents: ['deletion', 'archiving'] },
      { ...mayHoldResources, prevents: ['deletion', 'archiving'] },
      {
        prevents: ['transfer'],
        message: 'has instances that are deployed from templates of its team, which the other team cannot use',
        remedy: 'destroy them first',
        when: (row) => sql<SqlBool>`${row('resource_count')} > 0`,
        tiedTo: { kind: 'template', sharing: 'team' },
      },
    ],
  },
  {
    kind: 'instance_slot',
    table: 'instance_slots',
    key: ['instance_id'],
    owners: [{ kind: 'instance', columns: ['instance_id'], cascade: { rows: 'deleted' } }],
    references: [{ kind: 'run', columns: ['run_id'], kept: 'it goes when the run ends' }],
  },
  {
    kind: 'instance_resource',
    table: 'instance_resources',
    label: 'address',
    owners: [
      {
        kind: 'instance',
        columns: ['instance_id'],
        blocker: {
          message: 'holds resources',
          remedy: 'destroy them first, or forget the state if it was imported by mistake',
        },
        kept: 'there is none when it is deleted',
      },
      { kind: 'team', columns: ['team_id'], follows: 'instance', kept: 'the instance prevents the deletion' },
    ],
  },
  {
    kind: 'state_version',
    table: 'state_versions',
    key: ['instance_id', 'serial'],
    owners: [{ kind: 'instance', columns: ['instance_id'], kept: history }],
    references: [
      { kind: 'run', columns: ['run_id'], kept: history },
      { kind: 'run_attempt', columns: ['attempt_id'], kept: history },
      { kind: 'principal', columns: ['created_by'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
