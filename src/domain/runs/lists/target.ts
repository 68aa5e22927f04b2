import type { Em } from '#database/database.ts';
import { findOrganization } from '#domain/organizations/store.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { findOwningTeam } from '#domain/shared/ownership-graph/owning-team.ts';
import type { NamedOwner, RunScope } from './filter.ts';

/** What a list of runs names in its query. */
export interface RunListQuery {
  readonly team_id?: string | undefined;
  readonly environment_id?: string | undefined;
  readonly instance_id?: string | undefined;
  readonly organization_id?: string | undefined;
  readonly scope?: 'readable' | undefined;
}

/** The scope of a list, with the owner that decides who may read it. */
export interface RunListTarget extends Ownership {
  readonly scope: RunScope;
  /** Every owner that the list names. The reader must be allowed to read each of them. */
  readonly named: readonly NamedOwner[];
}

/**
 * The scope of a list: the team of what it names, else the organization, else all that its reader may read, else the runs of no
 * team. Undefined if it names something that does not exist.
 */
export async function findRunListTarget(em: Em, query: RunListQuery): Promise<RunListTarget | undefined> {
  const { team_id: team, environment_id: environment, instance_id: instance, organization_id: organization } = query;
  const lookups = [
    team === undefined ? null : nameOwner('team_id', findOwningTeam(em, 'team', team)),
    environment === undefined ? null : nameOwner('environment_id', findOwningTeam(em, 'environment', environment)),
    instance === undefined ? null : nameOwner('instance_id', findOwningTeam(em, 'instance', instance)),
    organization === undefined ? null : nameOwner('organization_id', findOrganizationById(em, organization)),
  ];
  const found = await Promise.all(lookups.filter((lookup) => lookup !== null));
  const named = found.filter((owner) => owner !== undefined);
  if (named.length < found.length) return undefined;
  const [first] = named;
  if (!first) return { ...installationOwnership, named, scope: toScope(query) };
  const { organizationId, teamId } = first.owner;
  const isOrganization = first.by === 'organization_id' && organizationId !== null;
  const scope = isOrganization
    ? ({ kind: 'organization', organizationId } as const)
    : ({ kind: 'team', teamId } as const);
  return { organizationId, teamId, named, scope };
}

function toScope({ scope }: RunListQuery): RunScope {
  return scope === 'readable' ? { kind: 'readable' } : { kind: 'team', teamId: null };
}

async function nameOwner(by: string, finding: Promise<Ownership | undefined>): Promise<NamedOwner | undefined> {
  const owner = await finding;
  return owner && { by, owner };
}

async function findOrganizationById(em: Em, id: string): Promise<Ownership | undefined> {
  const found = await findOrganization(em, id);
  return found?.id === id ? { organizationId: id, teamId: null } : undefined;
}
