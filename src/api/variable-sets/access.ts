import { ownedAccess } from '#api/tenancy/owned-access.ts';
import type { Access } from '#domain/shared/access/decide.ts';

/** Who may do what with variable sets (access.md of the design). */
export const { review, listAccess, readAccess, createAccess, writeAccess } = ownedAccess('variable_sets', {
  reads: ['environment:read'],
  changes: ['secret:manage'],
  ofInstallation: 'everybody',
});

export const deleteAccess: Access = { ...writeAccess, review: { ...review, verb: 'delete' } };
