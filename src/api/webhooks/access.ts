import { ownedAccess } from '#api/tenancy/owned-access.ts';

export const { review, listAccess, readAccess, writeAccess } = ownedAccess('webhooks', 'webhook:manage');
