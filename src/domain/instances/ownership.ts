import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';
import { hasIncompleteApply } from './conditions-store.ts';

const readers = 'a reader that was deleted reads nothing';
const allowedFor = 'its readers read nothing for other owners than those for whom they were allowed';
/** A transfer voids the readers permanently, even if the instance returns: its present owners decide again who may read it. */
const readersVoid = {
  rows: 'ended',
  at: 'readersVoidSince',
  when: (row: Row<'readersVoidSince' | 'readersTeamId'>) =>
    sql<SqlBool>`${row('readersVoidSince')} is null and ${row('readersTeamId')} is not null`,
  withOwner: true,
} as const;
const history = 'what was deployed and what its states were outlives who did it and where';

const holdsResources = {
  message: 'has instances that still hold resources',
  remedy: 'destroy them first',
  when: (row: Row<'resourceCount'>) => sql<SqlBool>`${row('resourceCount')} > 0`,
} as const;

const mayHoldResources = {
  message: 'has instances whose last apply may be incomplete, so that they may hold resources that nothing records',
  remedy: 'apply or destroy them again first',
  // `holdsResources` reports instances whose resources are known.
  when: (row: Row<'resourceCount' | 'id'>) =>
    sql<SqlBool>`${row('resourceCount')} = 0 and ${hasIncompleteApply(row('id'))}`,
} as const;

/** No column names the assembly. The condition finds it by the runs of its nodes that have applied the instance. */
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
      { kind: 'environment', columns: ['environmentId'], kept: history, onTransfer: readersVoid },
      // The team of its environment; without an environment, the team of its template.
      { kind: 'team', columns: ['teamId'], follows: 'environment', kept: history },
    ],
    references: [
      { kind: 'template', columns: ['templateId'], kept: history, blocker: holdsResources },
      { kind: 'template', columns: ['templateId'], kept: history, blocker: mayHoldResources },
      { kind: 'run', columns: ['deployedRunId'], kept: history },
      { kind: 'run', columns: ['unrecordedRunId'], kept: history },
      { kind: 'run', columns: ['inputsChangedRunId'], kept: history },
      { ...ofAssembly, blocker: holdsResources },
      { ...ofAssembly, blocker: mayHoldResources },
      {
        kind: 'team',
        columns: ['readerTeamIds'],
        kept: readers,
        onTransfer: { rows: 'unlisted', from: 'readerTeamIds' },
      },
      {
        kind: 'environment',
        columns: ['readerEnvironmentIds'],
        kept: readers,
        onTransfer: { rows: 'unlisted', from: 'readerEnvironmentIds', withOwner: true },
      },
      { kind: 'organization', columns: ['readersOrganizationId'], kept: allowedFor },
      { kind: 'team', columns: ['readersTeamId'], kept: allowedFor },
    ],
    uses: [
      { ...holdsResources, prevents: ['deletion', 'archiving'] },
      { ...mayHoldResources, prevents: ['deletion', 'archiving'] },
      {
        prevents: ['transfer'],
        message: 'has instances that are deployed from templates of its team, which the other team cannot use',
        remedy: 'destroy them first',
        when: (row) => sql<SqlBool>`${row('resourceCount')} > 0`,
        tiedTo: { kind: 'template', sharing: 'team' },
      },
    ],
  },
  {
    kind: 'instance_slot',
    table: 'instance_slots',
    key: ['instanceId'],
    owners: [{ kind: 'instance', columns: ['instanceId'], cascade: { rows: 'deleted' } }],
    references: [{ kind: 'run', columns: ['runId'], kept: 'it goes when the run ends' }],
  },
  {
    kind: 'instance_resource',
    table: 'instance_resources',
    label: 'address',
    owners: [
      {
        kind: 'instance',
        columns: ['instanceId'],
        blocker: {
          message: 'holds resources',
          remedy: 'destroy them first, or forget the state if it was imported by mistake',
        },
        kept: 'there is none when it is deleted',
      },
      { kind: 'team', columns: ['teamId'], follows: 'instance', kept: 'the instance prevents the deletion' },
    ],
  },
  {
    kind: 'state_version',
    table: 'state_versions',
    key: ['instanceId', 'serial'],
    owners: [{ kind: 'instance', columns: ['instanceId'], kept: history }],
    references: [
      { kind: 'run', columns: ['runId'], kept: history },
      { kind: 'run_attempt', columns: ['attemptId'], kept: history },
      { kind: 'principal', columns: ['createdBy'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
