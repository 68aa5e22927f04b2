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
        columns: ['environment_id'],
        cascade: { rows: 'deleted' },
        onTransfer: voidOnTransfer,
      },
      // The team of its environment; without an environment, the team of its template.
      {
        kind: 'team',
        columns: ['team_id'],
        follows: 'environment',
        cascade: { rows: 'deleted' },
        onTransfer: voidOnTransfer,
      },
    ],
    references: [
      { kind: 'template', columns: ['template_id'], blocker: used },
      { kind: 'assembly', columns: ['assembly_id'], blocker: used },
      { kind: 'organization', columns: ['saved_for_organization_id'], kept: saved },
      { kind: 'team', columns: ['saved_for_team_id'], kept: saved },
      { kind: 'principal', columns: ['authority_id'], kept: acting },
      { kind: 'principal', columns: ['responsible_user_id'], kept: acting },
    ],
  },
  {
    kind: 'schedule_firing',
    table: 'schedule_firings',
    label: 'outcome',
    owners: [{ kind: 'schedule', columns: ['schedule_id'], cascade: { rows: 'deleted' } }],
    references: [
      { kind: 'run', columns: ['run_id'], kept: history },
      { kind: 'assembly_run', columns: ['assembly_run_id'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
