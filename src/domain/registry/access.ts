import type { Access } from '#domain/shared/access/decide.ts';
import { findTemplateOwner } from './store.ts';

export const accessReview = { resource: 'templates', unscoped: true, target: findTemplateOwner } as const;

/** The right to read a template. */
export const readAccess: Access = {
  anyOf: ['template:read'],
  scope: 'team',
  teamAction: 'team.metadata.read',
  hidden: 'not_found',
  review: { ...accessReview, verb: 'get' },
};
