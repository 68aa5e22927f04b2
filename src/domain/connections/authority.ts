import type { Access } from '#domain/shared/access/decide.ts';

/** The right to read connections. Everybody who may use connections can see those of the installation, to choose one. */
export const connectionReading = {
  anyOf: ['connection:manage', 'connection:use', 'connection:test'],
  scope: 'owned',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
} as const satisfies Omit<Access, 'review'>;
