import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';
import { voidOnTransfer } from '#domain/shared/ownership-graph/voiding.ts';

const acting = 'a schedule whose authority has ended starts nothing and says why';
const saved = 'a schedule starts nothing for other owners than those for whom it was saved';
const used = { message: 'has schedules that start it', remedy: 'delete them first' } as const;
const history = 'the history of a schedule names what it started';

export const scheduleKinds = [
  {
    kind: 'schedule',
    table: 'schedules',
    label: 'name',
    revision: true,
    owners: [
      {
        kind: 'environment',
        columns: ['environmentId'],
        cascade: { rows: 'deleted' },
        onTransfer: voidOnTransfer,
      },
      // The team of its environment; without an environment, the team of its template.
      {
        kind: 'team',
        columns: ['teamId'],
        follows: 'environment',
        cascade: { rows: 'deleted' },
        onTransfer: voidOnTransfer,
      },
    ],
    references: [
      { kind: 'template', columns: ['templateId'], blocker: used },
      { kind: 'assembly', columns: ['assemblyId'], blocker: used },
      { kind: 'organization', columns: ['savedForOrganizationId'], kept: saved },
      { kind: 'team', columns: ['savedForTeamId'], kept: saved },
      { kind: 'principal', columns: ['authorityId'], kept: acting },
      { kind: 'principal', columns: ['responsibleUserId'], kept: acting },
    ],
  },
  {
    kind: 'schedule_firing',
    table: 'schedule_firings',
    label: 'outcome',
    owners: [{ kind: 'schedule', columns: ['scheduleId'], cascade: { rows: 'deleted' } }],
    references: [
      { kind: 'run', columns: ['runId'], kept: history },
      { kind: 'assembly_run', columns: ['assemblyRunId'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
