import type { Access } from '#domain/shared/access/decide.ts';

/** The authority that every creation of a run requires. */
export const runCreationAuthority = {
  scope: 'team',
  hidden: 'not_found',
  anyOf: ['run:create'],
  teamAction: 'team.secret.read',
} as const satisfies Partial<Access>;
