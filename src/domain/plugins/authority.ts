import type { Access } from '#domain/shared/access/decide.ts';

/**
 * Who may do what with plugins (specification, *Plugin authority*). None of it gives execution: only an assignment does. Plugins have no
 * access reviews.
 */

/** Reading an installation, what it declares, and what is assigned at a place that one may read. */
export const pluginReading = {
  anyOf: ['team:read', 'organization:read'],
  scope: 'owned',
  teamAction: 'team.metadata.read',
  organizationRole: 'member',
  hidden: 'not_found',
  review: 'none',
} as const satisfies Access;

/** Listing what belongs to many places: the list holds only what its caller may read. */
export const pluginListing = {
  ...pluginReading,
  scope: 'platform',
  teamAction: undefined,
  organizationRole: undefined,
} as const satisfies Access;

/** Administering a place: that of its memberships. */
export const pluginAdministration = {
  ...pluginReading,
  anyOf: ['team:write', 'organization:write'],
  teamAction: 'team.membership.manage',
  organizationRole: 'admin',
} as const satisfies Access;

/** Replacing a ceiling. */
export const ceilingAdministration = { ...pluginReading, anyOf: ['settings.manage'] } as const satisfies Access;

/** Whoever an assignment in force covers at a place may ask about the place without being able to read it. */
export function accessIfCovered(access: Access, place: object): Access {
  return 'isCovered' in place && place.isCovered === true ? { ...access, scope: 'platform' } : access;
}
