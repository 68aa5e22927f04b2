import type { Em } from '#database/database.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { findOwnershipOf } from '#domain/tenancy/owned/rows-store.ts';

export const review = {
  resource: 'webhooks',
  target: (em: Em, id: string) => findOwnershipOf(em, 'webhooks', id),
} as const;

/** The list leaves out what the caller may not read. */
export const listAccess: Access = {
  scope: 'owned',
  hidden: 'not_found',
  anyOf: ['webhook:manage'],
  teamAction: 'team.metadata.read',
  review: { resource: 'webhooks', verb: 'list' },
};
export const readAccess: Access = { ...listAccess, installation: 'hidden', review: { ...review, verb: 'get' } };
export const writeAccess: Access = {
  ...readAccess,
  teamAction: 'team.metadata.write',
  organizationRole: 'admin',
  review: { ...review, verb: 'update' },
};
