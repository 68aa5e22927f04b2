import type { Em } from '#database/database.ts';
import { type BindingPlace, readAllEffectiveBindings } from '#domain/connections/bindings/store.ts';
import { CredentialsUnavailable } from '#domain/connections/errors.ts';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { readModuleSources } from '#domain/connections/module-sources/module-sources.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { sharePrincipals } from '#domain/shared/access/authority-lock.ts';
import { type Access, decide } from '#domain/shared/access/decide.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { Template } from '../entity.ts';
import { TemplateCheck } from './entity.ts';

/** The authority to let a check use the connections of an environment: that of those who may publish for its team, and may use connections. */
export const checkPlaceAccess: Access = {
  anyOf: ['connection:use'],
  scope: 'team',
  teamAction: 'team.metadata.write',
  hidden: 'not_found',
  review: 'none',
};

/** What a check may read. The sources stay in the worker and its executor: never store or log them. */
export interface OpenedSources {
  readonly sources: readonly ModuleSource[];
  /** Why there are none although the check names an environment, as a sentence without a full stop; null if nothing is in the way. */
  readonly problem: string | null;
}

const nothing: OpenedSources = { sources: [], problem: null };

/**
 * Opens the private modules of the environment that a check names. Whoever asked for the check must still have the authority, because a check may wait for
 * days; so must those who bound the connections. Bindings, connections and their authority are shared until the commit.
 */
export async function openCheckSources(em: Em, keyRing: KeyRing, checkId: string): Promise<OpenedSources> {
  const check = await em.findOne(TemplateCheck, { id: checkId });
  if (!check?.environmentId) return nothing;
  const place = await findPlace(em, check);
  if (place === null) return refused('the environment is gone, archived, or of another team than the template');
  const found = await readAllEffectiveBindings(em, place, false);
  await sharePrincipals(em, { ids: [...new Set([check.requestedBy, ...found.map(({ boundBy }) => boundBy)])] });
  const principal = (await readPrincipals(em, [check.requestedBy])).get(check.requestedBy);
  if (!principal || !decide(principal, checkPlaceAccess, place).allowed)
    return refused('whoever asked for the check may not use them any more');
  const closed = describeClosed('connections', principal.closedFeatures);
  if (closed !== null) return refused(closed);
  try {
    const bound = await readModuleSources(em, keyRing, { place, phase: 'plan', lock: true });
    return { sources: bound.map(({ source }) => source), problem: null };
  } catch (error) {
    if (error instanceof CredentialsUnavailable) return refused(error.message);
    throw error;
  }
}

/** Where the check is: its environment may have other owners than when it was asked for. */
async function findPlace(em: Em, { environmentId, templateId }: TemplateCheck): Promise<BindingPlace | null> {
  const environment = environmentId ? await findEnvironment(em, environmentId) : undefined;
  const { teamId: templateTeam = null } = await em.findOneOrFail(Template, { id: templateId });
  if (!environment || environment.archived.length > 0) return null;
  const { organizationId, teamId, projectId, id } = environment;
  if (templateTeam !== null && templateTeam !== teamId) return null;
  return { organizationId, teamId, projectId, environmentId: id };
}

function refused(why: string): OpenedSources {
  return { sources: [], problem: `the connections of the environment were not used: ${why}` };
}
