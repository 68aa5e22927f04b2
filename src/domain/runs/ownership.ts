import { type SqlBool, sql } from 'kysely';
import { type IncompleteColumn, isIncompleteApply } from '#domain/instances/conditions-store.ts';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'a run keeps what it was about and who asked for it';
const lineage = 'a run that is deleted keeps its lineage';

const unfinished = {
  message: 'has runs that have not ended',
  remedy: 'cancel them or let them end first',
  when: (row: Row<'finishedAt'>) => sql<SqlBool>`${row('finishedAt')} is null`,
  includes: 'deleted',
} as const;

const incomplete = {
  message: 'has runs whose apply may be incomplete, so that it may hold resources that nothing records',
  remedy: 'apply or destroy it again first',
  when: (row: Row<IncompleteColumn | 'finishedAt'>) =>
    sql<SqlBool>`${row('finishedAt')} is not null and ${isIncompleteApply(row)}`,
  includes: 'deleted',
} as const;

/** What belongs to a run and stays after the run was deleted. */
const ofRun = { kind: 'run', columns: ['runId'], kept: lineage } as const;
/** What belongs to a run and is deleted with it: its log, its plan and its comments. */
const purgedWithRun = { kind: 'run', columns: ['runId'], cascade: { rows: 'deleted' } } as const;

export const runKinds = [
  {
    kind: 'run',
    table: 'runs',
    label: (row) => sql<string>`${row('id')}::text`,
    revision: true,
    tombstone: true,
    owners: [
      { kind: 'environment', columns: ['environmentId'], kept: history },
      // The team of its environment; without an environment, the team of its template.
      { kind: 'team', columns: ['teamId'], follows: 'environment', kept: history },
    ],
    references: [
      { kind: 'project', columns: ['projectId'], follows: 'environment', kept: history },
      { kind: 'instance', columns: ['instanceId'], kept: history, blocker: unfinished },
      { kind: 'instance', columns: ['instanceId'], kept: history, blocker: incomplete },
      { kind: 'template', columns: ['templateId'], kept: history, blocker: unfinished },
      { kind: 'templateVersion', columns: ['templateVersionId'], kept: history },
      { kind: 'principal', columns: ['requestedById'], kept: history },
      { kind: 'principal', columns: ['responsibleUserId'], kept: history },
      {
        kind: 'principal',
        columns: ['reviewers'],
        matches: (row, id) =>
          sql<SqlBool>`${row('reviewers')} @> jsonb_build_array(jsonb_build_object('id', ${id}::text))`,
        kept: history,
      },
      { kind: 'run_attempt', columns: ['attemptId'], kept: history },
      {
        kind: 'principal',
        columns: ['authors'],
        matches: (row, id) =>
          sql<SqlBool>`${row('authors')} @> jsonb_build_array(jsonb_build_object('id', ${id}::text))`,
        kept: history,
      },
      { kind: 'assembly_run', columns: ['assemblyRunId'], kept: lineage },
      { kind: 'assembly_node', columns: ['assemblyNodeId'], kept: lineage },
      { kind: 'run', columns: ['requeuedFrom'], kept: lineage },
      { kind: 'drift_monitor', columns: ['driftMonitorId'], kept: lineage },
      { kind: 'drift_finding', columns: ['driftFindingId'], kept: lineage },
      { kind: 'run', columns: ['undoes'], kept: lineage },
      { kind: 'run', columns: ['undoneBy'], kept: lineage },
      { kind: 'run', columns: ['startedByRunId'], kept: lineage },
      { kind: 'run', columns: ['expectedDeployedRunId'], kept: lineage },
      { kind: 'run', columns: ['expectedPlanRunId'], kept: lineage },
      { kind: 'worker_pool', columns: ['pool'], blocker: unfinished },
    ],
    uses: [{ ...unfinished, prevents: ['deletion', 'archiving', 'transfer'] }],
  },
  {
    kind: 'run_attempt',
    table: 'run_attempts',
    owners: [ofRun],
    references: [{ kind: 'worker', columns: ['workerId'], kept: 'an attempt names the worker that had it' }],
  },
  { kind: 'run_plan', table: 'run_plans', key: ['runId'], owners: [purgedWithRun] },
  {
    kind: 'run_review',
    table: 'run_reviews',
    owners: [ofRun],
    references: [
      { kind: 'principal', columns: ['reviewerId'], kept: 'a review keeps who gave it' },
      { kind: 'principal', columns: ['responsibleUserId'], kept: 'four eyes compares people for good' },
    ],
  },
  {
    kind: 'run_comment',
    table: 'run_comments',
    owners: [purgedWithRun],
    references: [{ kind: 'principal', columns: ['authorId'], kept: 'a comment keeps who wrote it' }],
  },
  {
    kind: 'run_log_chunk',
    table: 'run_log_chunks',
    key: ['runId', 'sequence', 'time'],
    owners: [purgedWithRun],
    references: [{ kind: 'run_attempt', columns: ['attemptId'], kept: lineage }],
  },
  {
    kind: 'run_debug_log',
    table: 'run_debug_logs',
    key: ['attemptId'],
    owners: [purgedWithRun],
    references: [{ kind: 'run_attempt', columns: ['attemptId'], kept: lineage }],
  },
] as const satisfies readonly Declaration[];
