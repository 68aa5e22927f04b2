import type { Access } from '#domain/shared/access/decide.ts';
import { findVariableSetOwner } from '#domain/variable-sets/store.ts';

/** Who may do what with variable sets (access.md of the design). */

const review = { resource: 'variable_sets', target: findVariableSetOwner } as const;

export const readAccess: Access = {
  anyOf: ['environment:read'],
  scope: 'owned',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { ...review, verb: 'get' },
};

export const listAccess: Access = { ...readAccess, review: { resource: 'variable_sets', verb: 'list' } };

export const writeAccess: Access = {
  anyOf: ['secret:manage'],
  scope: 'owned',
  teamAction: 'team.metadata.write',
  organizationRole: 'admin',
  installation: 'administrators',
  hidden: 'not_found',
  review: { ...review, verb: 'update' },
};

export const createAccess: Access = { ...writeAccess, review: { resource: 'variable_sets', verb: 'create' } };

export const deleteAccess: Access = { ...writeAccess, review: { ...review, verb: 'delete' } };
