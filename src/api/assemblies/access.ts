import { findAssemblyOwner } from '#domain/assemblies/store.ts';
import type { Access } from '#domain/shared/access/decide.ts';

/** Who may do what with assemblies (specification, *Assembly mapping*; docs/assemblies.md, *Who may do what*). */

export const accessReview = { resource: 'assemblies', target: findAssemblyOwner } as const;

/** To list assemblies. A caller without the permission gets 403, because a list reveals no assembly. */
export const listAccess: Access = {
  anyOf: ['assembly:read', 'workload:read'],
  scope: 'team',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { resource: 'assemblies', verb: 'list' },
};

export const createAccess: Access = {
  anyOf: ['assembly:write'],
  scope: 'team',
  teamAction: 'team.metadata.write',
  hidden: 'not_found',
  review: { resource: 'assemblies', verb: 'create' },
};

/** To read a named assembly. A missing one, a hidden one and a missing permission get the same answer. */
export const readAccess: Access = {
  ...listAccess,
  missingPermission: 'hidden',
  review: { ...accessReview, verb: 'get' },
};

/** To change a named assembly. */
export const writeAccess: Access = {
  ...createAccess,
  missingPermission: 'hidden',
  review: { ...accessReview, verb: 'update' },
};

/** To read the draft, which only callers who may change the assembly may see. */
export const draftAccess: Access = { ...writeAccess, review: { inherits: 'assemblies.update' } };

/** To read what belongs to the assembly. */
export const nestedReadAccess: Access = { ...readAccess, review: { inherits: 'assemblies.get' } };
