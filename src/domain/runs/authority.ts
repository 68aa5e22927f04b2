import type { Access } from '#domain/shared/access/decide.ts';

/** The authority that creating a run needs, whoever creates it. */
export const runCreationAuthority = {
  scope: 'team',
  hidden: 'not_found',
  anyOf: ['run:create'],
  teamAction: 'team.secret.read',
} as const satisfies Partial<Access>;
