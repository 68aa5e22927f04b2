import { type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam, isTeamOf } from '#domain/shared/access/readable-teams-store.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { mayReadUnscoped } from '../conditions-store.ts';
import type { DeployedResource } from '../state-file/addresses.ts';

/** A resource as the API shows it, with the instance that holds it. */
export interface ListedResource extends DeployedResource {
  readonly id: string;
  readonly instanceId: string;
  readonly instance: string;
  readonly environmentId: string | null;
  readonly teamId: string | null;
}

export interface ResourceFilter {
  readonly teamId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly type?: string | undefined;
  /** A text in the address, ignoring case. */
  readonly text?: string | undefined;
}

function selectResources(em: Em) {
  return db(em)
    .selectFrom('instance_resources as r')
    .innerJoin('instances as i', 'i.id', 'r.instanceId')
    .select(['r.id', 'r.address', 'r.module', 'r.type', 'r.name', 'r.provider', 'r.teamId'])
    .select(['i.id as instanceId', 'i.name as instance', 'i.environmentId']);
}

/** A page of the resources of one instance. The caller has decided that they may be read. */
export function listInstanceResources(em: Em, instanceId: string, page: PageRequest): Promise<Page<ListedResource>> {
  return pageOf(selectResources(em).where('r.instanceId', '=', instanceId), 'r.id', page);
}

/**
 * A page of the resources that the principal may read, those of the latest deployments first: of its teams, of the organizations
 * that it administers, and of the instances without a team that nobody else has used. Administrators read all.
 */
export function listResources(
  em: Em,
  principal: Principal,
  { teamId, organizationId, environmentId, type, text }: ResourceFilter,
  page: PageRequest,
): Promise<Page<ListedResource>> {
  const resources = selectResources(em)
    .where((eb) => isReadableResource(eb, principal))
    .$if(teamId !== undefined, (query) => query.where('r.teamId', '=', teamId ?? null))
    .$if(organizationId !== undefined, (query) =>
      query.where((eb) => isTeamOf(organizationId ?? '', eb.ref('r.teamId'))),
    )
    .$if(environmentId !== undefined, (query) => query.where('i.environmentId', '=', environmentId ?? null))
    .$if(type !== undefined, (query) => query.where('r.type', '=', type ?? ''))
    .$if(text !== undefined, (query) => query.where((eb) => mentions(eb, text ?? '')));
  return pageOf(resources, 'r.id', page);
}

/** Whether a principal may read a resource: that of a readable team, or of an instance without a team that nobody else has used. */
export function isReadableResource(eb: Over<{ r: 'instance_resources'; i: 'instances' }>, principal: Principal) {
  return eb.or([
    isInReadableTeam(principal, eb.ref('r.teamId'), 'hidden'),
    eb.and([eb('r.teamId', 'is', null), mayReadUnscoped(eb.ref('i.id'), principal)]),
  ]);
}

function mentions(eb: Over<{ r: 'instance_resources' }>, text: string) {
  return sql<SqlBool>`position(${text.toLowerCase()} in lower(${eb.ref('r.address')})) > 0`;
}
