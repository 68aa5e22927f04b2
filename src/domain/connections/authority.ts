import type { Access } from '#domain/shared/access/decide.ts';

/** Reading connections. Everybody who may use connections sees those of the installation, to choose one. */
export const connectionReading = {
  anyOf: ['connection:manage', 'connection:use', 'connection:test'],
  scope: 'owned',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
} as const satisfies Omit<Access, 'review'>;
