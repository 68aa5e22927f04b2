import { ownedAccess } from '#api/tenancy/owned-access.ts';

export const { review, listAccess, readAccess, createAccess, writeAccess } = ownedAccess('webhooks', {
  reads: ['webhook:manage'],
  changes: ['webhook:manage'],
  ofInstallation: 'administrators',
});
