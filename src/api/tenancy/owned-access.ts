import type { Em } from '#database/database.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { findOwnershipOf } from '#domain/tenancy/owned/rows-store.ts';

type Resource = 'webhooks' | 'notification_channels';

interface OwnedAccess {
  /** What access reviews of one of the things are about. */
  readonly review: {
    readonly resource: Resource;
    readonly target: (em: Em, id: string) => ReturnType<typeof findOwnershipOf>;
  };
  /** The list leaves out what the caller may not read. */
  readonly listAccess: Access;
  readonly readAccess: Access;
  readonly writeAccess: Access;
}

/**
 * Who may list, read and change things of one kind that belong to the installation, an organization, a team or a project. A change needs
 * `team.metadata.write` in the team, or an administrator of the organization.
 */
export function ownedAccess(resource: Resource, permission: Access['anyOf'][number]): OwnedAccess {
  const review = { resource, target: (em: Em, id: string) => findOwnershipOf(em, resource, id) };
  const listAccess: Access = {
    scope: 'owned',
    hidden: 'not_found',
    anyOf: [permission],
    teamAction: 'team.metadata.read',
    review: { resource, verb: 'list' },
  };
  const readAccess: Access = { ...listAccess, installation: 'hidden', review: { ...review, verb: 'get' } };
  const writeAccess: Access = {
    ...readAccess,
    teamAction: 'team.metadata.write',
    organizationRole: 'admin',
    review: { ...review, verb: 'update' },
  };
  return { review, listAccess, readAccess, writeAccess };
}
