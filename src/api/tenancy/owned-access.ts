import type { Em } from '#database/database.ts';
import { findOwnershipOf } from '#domain/owners/rows-store.ts';
import type { Access } from '#domain/shared/access/decide.ts';

type Resource = 'webhooks' | 'notification_channels' | 'connections' | 'variable_sets';

/** How the things of one kind differ from those of other kinds. */
interface OwnedRule {
  /** Permissions of which a reader needs one. */
  readonly reads: Access['anyOf'];
  /** A principal that changes one needs one of these permissions. */
  readonly changes: Access['anyOf'];
  /** Who sees those of the installation: administrators alone, or everybody with the permission. */
  readonly ofInstallation: 'administrators' | 'everybody';
}

interface OwnedAccess {
  /** What access reviews of one of the things are about. */
  readonly review: {
    readonly resource: Resource;
    readonly target: (em: Em, id: string) => ReturnType<typeof findOwnershipOf>;
  };
  /** The list leaves out what the caller may not read. */
  readonly listAccess: Access;
  readonly readAccess: Access;
  readonly createAccess: Access;
  readonly writeAccess: Access;
}

/**
 * Who may list, read, make and change things of one kind that belong to the installation, an organization, a team or a project. A change needs
 * `team.metadata.write` in the team, or an administrator of the organization. Administrators alone make and change those of the installation.
 */
export function ownedAccess(resource: Resource, { reads, changes, ofInstallation }: OwnedRule): OwnedAccess {
  const review = { resource, target: (em: Em, id: string) => findOwnershipOf(em, resource, id) };
  const isHidden = ofInstallation === 'administrators';
  const listAccess: Access = {
    scope: 'owned',
    hidden: 'not_found',
    anyOf: reads,
    teamAction: 'team.metadata.read',
    review: { resource, verb: 'list' },
  };
  const readAccess: Access = {
    ...listAccess,
    ...(isHidden && { installation: 'hidden' }),
    review: { ...review, verb: 'get' },
  };
  const writeAccess: Access = {
    ...listAccess,
    anyOf: changes,
    teamAction: 'team.metadata.write',
    organizationRole: 'admin',
    installation: isHidden ? 'hidden' : 'administrators',
    review: { ...review, verb: 'update' },
  };
  const createAccess: Access = {
    ...writeAccess,
    installation: 'administrators',
    review: { resource, verb: 'create' },
  };
  return { review, listAccess, readAccess, createAccess, writeAccess };
}
