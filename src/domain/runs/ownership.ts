import { type SqlBool, sql } from 'kysely';
import { type IncompleteColumn, isIncompleteApply } from '#domain/instances/incomplete-applies.ts';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'a run keeps what it was about and who asked for it';
const lineage = 'a run that is deleted keeps its lineage';

const unfinished = {
  message: 'has runs that have not ended',
  remedy: 'cancel them or let them end first',
  when: (row: Row<'finished_at'>) => sql<SqlBool>`${row('finished_at')} is null`,
  includes: 'deleted',
} as const;

const incomplete = {
  message: 'has runs whose apply may be incomplete, so that it may hold resources that nothing records',
  remedy: 'apply or destroy it again first',
  when: (row: Row<IncompleteColumn | 'finished_at'>) =>
    sql<SqlBool>`${row('finished_at')} is not null and ${isIncompleteApply(row)}`,
  includes: 'deleted',
} as const;

/** What belongs to a run and stays after the run was deleted. */
const ofRun = { kind: 'run', columns: ['run_id'], kept: lineage } as const;
/** What belongs to a run and is deleted with it: its log, its plan and its comments. */
const purgedWithRun = { kind: 'run', columns: ['run_id'], cascade: { rows: 'deleted' } } as const;

export const runKinds = [
  {
    kind: 'run',
    table: 'runs',
    label: (row) => sql<string>`${row('id')}::text`,
    revision: true,
    tombstone: true,
    owners: [
      { kind: 'environment', columns: ['environment_id'], kept: history },
      // The team of its environment; without an environment, the team of its template.
      { kind: 'team', columns: ['team_id'], follows: 'environment', kept: history },
    ],
    references: [
      { kind: 'project', columns: ['project_id'], follows: 'environment', kept: history },
      { kind: 'instance', columns: ['instance_id'], kept: history, blocker: unfinished },
      { kind: 'instance', columns: ['instance_id'], kept: history, blocker: incomplete },
      { kind: 'template', columns: ['template_id'], kept: history, blocker: unfinished },
      { kind: 'template_version', columns: ['template_version_id'], kept: history },
      { kind: 'principal', columns: ['requested_by_id'], kept: history },
      { kind: 'principal', columns: ['responsible_user_id'], kept: history },
      {
        kind: 'principal',
        columns: ['reviewers'],
        matches: (row, id) =>
          sql<SqlBool>`${row('reviewers')} @> jsonb_build_array(jsonb_build_object('id', ${id}::text))`,
        kept: history,
      },
      { kind: 'run_attempt', columns: ['attempt_id'], kept: history },
      {
        kind: 'principal',
        columns: ['authors'],
        matches: (row, id) =>
          sql<SqlBool>`${row('authors')} @> jsonb_build_array(jsonb_build_object('id', ${id}::text))`,
        kept: history,
      },
      { kind: 'assembly_run', columns: ['assembly_run_id'], kept: lineage },
      { kind: 'assembly_node', columns: ['assembly_node_id'], kept: lineage },
      { kind: 'run', columns: ['requeued_from'], kept: lineage },
      { kind: 'drift_monitor', columns: ['drift_monitor_id'], kept: lineage },
      { kind: 'drift_finding', columns: ['drift_finding_id'], kept: lineage },
      { kind: 'run', columns: ['undoes'], kept: lineage },
      { kind: 'run', columns: ['undone_by'], kept: lineage },
      { kind: 'run', columns: ['started_by_run_id'], kept: lineage },
      { kind: 'run', columns: ['expected_deployed_run_id'], kept: lineage },
      { kind: 'run', columns: ['expected_plan_run_id'], kept: lineage },
      { kind: 'worker_pool', columns: ['pool'], blocker: unfinished },
    ],
    uses: [{ ...unfinished, prevents: ['deletion', 'archiving', 'transfer'] }],
  },
  {
    kind: 'run_attempt',
    table: 'run_attempts',
    owners: [ofRun],
    references: [{ kind: 'worker', columns: ['worker_id'], kept: 'an attempt names the worker that had it' }],
  },
  { kind: 'run_plan', table: 'run_plans', key: ['run_id'], owners: [purgedWithRun] },
  {
    kind: 'run_review',
    table: 'run_reviews',
    owners: [ofRun],
    references: [
      { kind: 'principal', columns: ['reviewer_id'], kept: 'a review keeps who gave it' },
      { kind: 'principal', columns: ['responsible_user_id'], kept: 'four eyes compares people for good' },
    ],
  },
  {
    kind: 'run_comment',
    table: 'run_comments',
    owners: [purgedWithRun],
    references: [{ kind: 'principal', columns: ['author_id'], kept: 'a comment keeps who wrote it' }],
  },
  {
    kind: 'run_log_chunk',
    table: 'run_log_chunks',
    key: ['run_id', 'sequence', 'time'],
    owners: [purgedWithRun],
    references: [{ kind: 'run_attempt', columns: ['attempt_id'], kept: lineage }],
  },
  {
    kind: 'run_debug_log',
    table: 'run_debug_logs',
    key: ['attempt_id'],
    owners: [purgedWithRun],
    references: [{ kind: 'run_attempt', columns: ['attempt_id'], kept: lineage }],
  },
] as const satisfies readonly Declaration[];
