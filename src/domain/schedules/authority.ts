import { assemblyRunAuthority } from '#domain/assemblies/authority.ts';
import { runCreationAuthority } from '#domain/runs/authority.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import type { Work } from './model.ts';

/** The authority to change schedules of a team. */
export const scheduleAuthority = {
  scope: 'team',
  hidden: 'not_found',
  anyOf: ['environment:write'],
  teamAction: 'team.metadata.write',
} as const satisfies Partial<Access>;

/** The authority to save work in a schedule: to change schedules, and to start such work. Each start of the work demands the same. */
export function workAuthority({ kind }: Pick<Work, 'kind'>): Access {
  const { anyOf, teamAction } = kind === 'run' ? runCreationAuthority : assemblyRunAuthority;
  return {
    ...scheduleAuthority,
    allOf: anyOf,
    teamAction: [scheduleAuthority.teamAction, teamAction],
    review: 'none',
  };
}
