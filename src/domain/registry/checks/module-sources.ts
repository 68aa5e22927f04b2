import type { Em } from '#database/database.ts';
import { type BindingPlace, readAllEffectiveBindings } from '#domain/connections/bindings/store.ts';
import { CredentialsUnavailable } from '#domain/connections/errors.ts';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { type BoundSource, readModuleSources } from '#domain/connections/module-sources/module-sources.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { AuthorityEnded, findStoredPrincipal, type LostAuthority } from '#domain/identity/stored-authority.ts';
import { sharePrincipals } from '#domain/shared/access/authority-lock.ts';
import { type Access, decide } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { recordSystemAction } from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { Template } from '../entity.ts';
import { TemplateCheck } from './entity.ts';

/** The authority to let a check use the connections of an environment: the right to publish for its team and to use connections. */
export const checkPlaceAccess: Access = {
  anyOf: ['connection:use'],
  scope: 'team',
  teamAction: 'team.metadata.write',
  hidden: 'not_found',
  review: 'none',
};

/** The module sources that a check may read. They stay in the worker and its executor: never store or log them. */
export interface OpenedSources {
  readonly sources: readonly ModuleSource[];
  /** Why there are no sources although the check names an environment, as a sentence without a full stop; null if there is no problem. */
  readonly problem: string | null;
}

const nothing: OpenedSources = { sources: [], problem: null };

/**
 * Opens the private modules of the environment that a check names. The requester of the check must still have the authority, because a
 * check may wait for days, and so must those who bound the connections. It takes share locks on bindings, connections and their authority
 * until the commit.
 */
export async function openCheckSources(tx: Transaction, keyRing: KeyRing, checkId: string): Promise<OpenedSources> {
  const { em } = tx;
  const check = await em.findOne(TemplateCheck, { id: checkId });
  if (!check?.environmentId) return nothing;
  const place = await findPlace(em, check);
  if (place === null) return refused('the environment is gone, archived, or of another team than the template');
  const found = await readAllEffectiveBindings(em, place, false);
  await sharePrincipals(em, { ids: [...new Set([check.requestedBy, ...found.map(({ boundBy }) => boundBy)])] });
  const principal = await findAuthority(em, check);
  if (typeof principal === 'string') return refused(principal);
  if (!decide(principal, checkPlaceAccess, place).allowed)
    return refused('the requester of the check may no longer use them');
  const closed = describeClosed('connections', principal.closedFeatures);
  if (closed !== null) return refused(closed);
  try {
    const bound = await readModuleSources(em, keyRing, { place, phase: 'plan', lock: true });
    recordUses(tx, check, principal, { place, bound });
    return { sources: bound.map(({ source }) => source), problem: null };
  } catch (error) {
    if (error instanceof CredentialsUnavailable) return refused(error.message);
    throw error;
  }
}

/** The current state of the requester, or why nobody is responsible for the check any longer. */
async function findAuthority(
  em: Em,
  { requestedBy: authorityId, credentialId, responsibleUserId }: TemplateCheck,
): Promise<Principal | string> {
  try {
    return await findStoredPrincipal(em, { authorityId, credentialId, responsibleUserId });
  } catch (error) {
    if (error instanceof AuthorityEnded) return endings[error.reason];
    throw error;
  }
}

const endings: Record<LostAuthority, string> = {
  gone: 'the requester of the check was deleted',
  disabled: 'the requester of the check is disabled',
  key_revoked: 'the API key with which the check was requested was revoked',
  key_expired: 'the API key with which the check was requested has expired',
};

/** Records, for each connection, that a worker received its credentials. */
function recordUses(
  tx: Transaction,
  { id, templateId, versionId = null }: TemplateCheck,
  { id: requestedBy, name: requestedByName, responsibleUserId = null }: Principal,
  { place, bound }: { readonly place: BindingPlace; readonly bound: readonly BoundSource[] },
): void {
  const { environmentId, organizationId, teamId } = place;
  const by = { requestedBy, requestedByName, responsibleUserId };
  for (const { binding } of bound) {
    const { name, connectionId, credentialRevision, boundBy } = binding;
    const after = { checkId: id, templateId, versionId, environmentId, name, credentialRevision, boundBy, ...by };
    recordSystemAction(tx, 'connection.used', { id: connectionId, after }, { organizationId, teamId });
  }
}

/** The place of the check with the present owners of its environment, who may have changed since the request. */
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
