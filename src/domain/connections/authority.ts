import type { Access } from '#domain/shared/access/decide.ts';

/** Whoever may use connections must be able to choose one, so those of the installation are no secret to them. */
export const connectionReading = {
  anyOf: ['connection:manage', 'connection:use', 'connection:test'],
  scope: 'owned',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
} as const satisfies Omit<Access, 'review'>;
