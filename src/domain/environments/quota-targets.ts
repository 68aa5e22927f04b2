import type { Em } from '#database/database.ts';
import { findOrganization } from '#domain/organizations/store.ts';
import type { QuotaTarget } from '#domain/quotas/changes.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { isId } from '#domain/shared/ids.ts';
import { installationId, type QuotaScope, type QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';
import { findTeamById } from '#domain/teams/store.ts';
import { findEnvironment } from './store.ts';

type Find = (em: Em, id: string, lock: boolean) => Promise<(Ownership & { readonly name: string | null }) | undefined>;

const finders: Readonly<Record<QuotaScope, Find>> = {
  environment: findEnvironment,
  team: findTeamById,
  // An organization is found only by its id, because its slug may later name another one.
  organization: async (em, id, lock) => (isId(id) ? findById(em, id, lock) : undefined),
  installation: async (_em, id) => (id === installationId ? { ...installationOwnership, name: null } : undefined),
};

async function findById(em: Em, id: string, lock: boolean) {
  const found = await findOrganization(em, id, lock);
  return found?.id === id ? found : undefined;
}

/** The owner of a quota; undefined if it does not exist, or was deleted. With `lock` it stays until the commit. */
export async function findQuotaTarget(
  em: Em,
  { scope, id }: QuotaSubject,
  lock: boolean,
): Promise<QuotaTarget | undefined> {
  if (scope !== 'installation' && !isId(id)) return undefined;
  const found = await finders[scope](em, id, lock);
  return found && { scope, id, organizationId: found.organizationId, teamId: found.teamId, name: found.name };
}
