import type { Em } from '#database/database.ts';
import { findOwnershipOf } from '#domain/owners/rows-store.ts';
import type { Access } from '#domain/shared/access/decide.ts';

type Resource = 'webhooks' | 'notification_channels' | 'connections' | 'variable_sets';

/** The differences between the kinds of owned resources. */
interface OwnedRule {
  /** Permissions of which a reader needs one. */
  readonly reads: Access['anyOf'];
  /** Permissions of which somebody who makes a change needs one. */
  readonly changes: Access['anyOf'];
  /** Who may see those of the installation: only administrators, or everybody with the permission. */
  readonly ofInstallation: 'administrators' | 'everybody';
}

interface OwnedAccess {
  /** The resource and target of access reviews. */
  readonly review: {
    readonly resource: Resource;
    readonly target: (em: Em, id: string) => ReturnType<typeof findOwnershipOf>;
  };
  /** Access to the list. The list leaves out resources that the caller may not read. */
  readonly listAccess: Access;
  readonly readAccess: Access;
  readonly createAccess: Access;
  readonly writeAccess: Access;
}

/**
 * The access to resources of one kind that the installation, an organization, a team or a project may own. A change requires
 * `team.metadata.write` in the team, or the organization's administrator role. Only administrators create and change those of the
 * installation.
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
