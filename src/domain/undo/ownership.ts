import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'an attempt keeps what it was about and who asked for it';

export const undoKinds = [
  {
    kind: 'selective_undo_attempt',
    table: 'selective_undo_attempts',
    revision: true,
    owners: [{ kind: 'run', columns: ['run_id'], kept: history }],
    references: [
      { kind: 'instance', columns: ['instance_id'], kept: history },
      { kind: 'run', columns: ['deployed_run_id'], kept: history },
      { kind: 'run', columns: ['baseline_run_id'], kept: history },
      { kind: 'run', columns: ['promoted_run_id'], kept: history },
      { kind: 'principal', columns: ['requested_by_id'], kept: history },
      { kind: 'principal', columns: ['responsible_user_id'], kept: history },
    ],
  },
  {
    kind: 'candidate_check',
    table: 'selective_undo_candidate_checks',
    owners: [{ kind: 'selective_undo_attempt', columns: ['attempt_id'], kept: history }],
    references: [
      { kind: 'run', columns: ['run_id'], kept: history },
      { kind: 'principal', columns: ['requested_by_id'], kept: history },
      { kind: 'principal', columns: ['responsible_user_id'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
