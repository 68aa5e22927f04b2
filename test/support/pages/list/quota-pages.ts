import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of quotas. */
export function quotaPages({ teams }: Installation): DeclaredPage[] {
  const params = { scope: 'team', ownerID: teams.platform.id };
  const unlimited = { scope: 'team', ownerID: teams.fleet.id };
  const installation = { scope: 'installation', ownerID: 'global' };
  const who = 'admin';
  return [
    declare('quotas', pages.quotas, { who, isPictured: true }),
    declare('quotas-refused', pages.quotas, { who: 'owner', answers: 403 }),
    declare('quota', pages.quota, { params, who }),
    declare('quota-none', pages.quota, { params: unlimited, who }),
    declare('quota-installation', pages.quota, { params: installation, who }),
    declare('quota-installation-edit', pages.editQuota, { params: installation, who }),
    declare('quota-new', pages.newQuota, { who }),
    declare('quota-edit', pages.editQuota, { params, who }),
    declare('quota-recount', pages.recountQuota, { params, who }),
    declare('quota-clear', pages.clearQuota, { params, who }),
    declare('quota-clear-none', pages.clearQuota, { params: unlimited, who }),
  ];
}
