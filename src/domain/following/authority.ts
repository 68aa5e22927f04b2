import { runCreationAuthority } from '#domain/runs/authority.ts';
import type { Access } from '#domain/shared/access/decide.ts';

/** The authority to let an instance follow: to change environments, and to create runs. Each run that follows demands the same. */
export const followAuthority = {
  scope: 'team',
  hidden: 'not_found',
  anyOf: ['environment:write'],
  allOf: runCreationAuthority.anyOf,
  teamAction: ['team.metadata.write', runCreationAuthority.teamAction],
} as const satisfies Partial<Access>;
