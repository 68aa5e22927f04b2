import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'an attempt keeps what it was about and who asked for it';

export const undoKinds = [
  {
    kind: 'selective_undo_attempt',
    table: 'selective_undo_attempts',
    revision: true,
    owners: [{ kind: 'run', columns: ['runId'], kept: history }],
    references: [
      { kind: 'instance', columns: ['instanceId'], kept: history },
      { kind: 'run', columns: ['deployedRunId'], kept: history },
      { kind: 'run', columns: ['baselineRunId'], kept: history },
      { kind: 'run', columns: ['promotedRunId'], kept: history },
      { kind: 'principal', columns: ['requestedById'], kept: history },
      { kind: 'principal', columns: ['responsibleUserId'], kept: history },
    ],
  },
  {
    kind: 'candidate_check',
    table: 'selective_undo_candidate_checks',
    owners: [{ kind: 'selective_undo_attempt', columns: ['attemptId'], kept: history }],
    references: [
      { kind: 'run', columns: ['runId'], kept: history },
      { kind: 'principal', columns: ['requestedById'], kept: history },
      { kind: 'principal', columns: ['responsibleUserId'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
