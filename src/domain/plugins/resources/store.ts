import { type Expression, expressionBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { changeOne, clock } from '#domain/shared/ownership-graph/conditions.ts';
import { declarationOf } from '#domain/shared/ownership-graph/graph.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { InstallationDetails } from '../installations/store.ts';
import type { OwnerNames } from '../model.ts';
import { findLockedPlace, type Place } from '../places/place-store.ts';
import { scopeOf } from '../places/scope-store.ts';
import type { RestorationProblem, RestorationState } from '../restorations/model.ts';

/** The latest request to restore a resource, as the resource shows it. */
export interface LatestRestoration {
  readonly state: RestorationState;
  readonly requestedAt: string;
  readonly problem: RestorationProblem | null;
}

/** A resource as its readers see it, even after its deletion. */
export type ResourceDetails = RowOf<typeof selectResources>;

/** A resource with its place, even a deleted one. A lock locks its owners, then its row. */
export async function findResourceWithPlace(
  em: Em,
  id: string,
  lock = false,
): Promise<(Place & { readonly resource: ResourceDetails }) | undefined> {
  const known = await findResource(em, id);
  const place = known && (await findLockedPlace(em, { type: 'resource', id }, lock));
  const resource = lock && place ? await findResource(em, id, true) : known;
  return place && resource && { ...place, resource };
}

/** A resource by its id, even a deleted one. With `lock`, its row is locked for a change; lock its owners first. */
export function findResource(em: Em, id: string, lock = false): Promise<ResourceDetails | undefined> {
  const found = selectResources(em).where('r.id', '=', id);
  return (lock ? found.forNoKeyUpdate('r') : found).executeTakeFirst();
}

export interface ResourceFilter {
  readonly installationId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly type?: string | undefined;
  readonly isDeleted?: boolean | undefined;
}

/** The resources of the teams that a principal may read. */
export function listResources(
  em: Em,
  principal: Principal,
  { installationId, teamId, type, isDeleted = false, ...request }: PageRequest & ResourceFilter,
): Promise<Page<ResourceDetails>> {
  let listed = selectResources(em)
    .where((eb) => isInReadableTeam(principal, eb.ref('r.teamId'), 'hidden'))
    .where('r.deletedAt', isDeleted ? 'is not' : 'is', null);
  if (installationId !== undefined) listed = listed.where('r.installationId', '=', installationId);
  if (teamId !== undefined) listed = listed.where('r.teamId', '=', teamId);
  if (type !== undefined) listed = listed.where('r.type', '=', type);
  return pageOf(listed, 'r.id', request);
}

/**
 * How many resources of an installation are not deleted. Resources of teams that have left the organization of the installation do not
 * count, because nobody there could delete them.
 */
export async function countPresent(
  em: Em,
  { id, organizationId, teamId }: Pick<InstallationDetails, 'id' | 'organizationId' | 'teamId'>,
): Promise<number> {
  const { count } = await db(em)
    .selectFrom('plugin_resources as r')
    .innerJoin('teams as t', 't.id', 'r.teamId')
    .where('r.installationId', '=', id)
    .where('r.deletedAt', 'is', null)
    .where((eb) => (teamId === null ? eb('t.organizationId', '=', organizationId) : eb('t.id', '=', teamId)))
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

type ResourceKey = Pick<ResourceDetails, 'installationId' | 'type' | 'key'>;

/**
 * Whether another resource that is not deleted has the key of a resource. The resource itself does not count: it may have been restored
 * meanwhile.
 */
export async function isKeyInUse(em: Em, resource: ResourceKey & Pick<ResourceDetails, 'id'>): Promise<boolean> {
  const others = selectKey(em, resource).where('r.id', '<>', resource.id);
  return (await others.where('r.deletedAt', 'is', null).executeTakeFirst()) !== undefined;
}

/** Whether a resource of another team has a key, or had it when it was deleted. */
export async function isKeyOfOtherTeam(em: Em, key: ResourceKey & { readonly teamId: string }): Promise<boolean> {
  return (await selectKey(em, key).where('r.teamId', '<>', key.teamId).executeTakeFirst()) !== undefined;
}

function selectKey(em: Em, { installationId, type, key }: ResourceKey) {
  return db(em)
    .selectFrom('plugin_resources as r')
    .where('r.installationId', '=', installationId)
    .where('r.type', '=', type)
    .where('r.key', '=', key)
    .select('r.id')
    .limit(1);
}

/** Deletes a resource: its row stays as a tombstone with its former owners. The caller has locked the row. */
export async function markDeleted(em: Em, { id }: Pick<ResourceDetails, 'id'>, from: OwnerNames): Promise<void> {
  await changeOne(em, declarationOf('plugin_resource'), id, { deleted_at: clock, deleted_from: JSON.stringify(from) });
}

/** Restores a deleted resource under a new generation, to which nothing was assigned. The caller has locked the row. */
export async function markRestored(em: Em, { id }: Pick<ResourceDetails, 'id'>): Promise<void> {
  await changeOne(em, declarationOf('plugin_resource'), id, { deleted_at: null, deleted_from: null });
}

function latestRestoration(resourceId: Expression<string>) {
  return expressionBuilder<Tables>()
    .selectFrom('plugin_restorations as x')
    .where('x.resourceId', '=', resourceId)
    .orderBy('x.createdAt', 'desc')
    .orderBy('x.id', 'desc')
    .limit(1)
    .select(
      sql<LatestRestoration | null>`jsonb_build_object('state', x.status, 'requestedAt', x.created_at, 'problem', x.problem)`.as(
        'latest',
      ),
    );
}

function selectResources(em: Em) {
  return db(em)
    .selectFrom('plugin_resources as r')
    .innerJoinLateral(scopeOf(sql`'resource'`, sql`r.id`), (join) => join.onTrue())
    .select(['r.id', 'r.installationId', 'r.type', 'r.name', 'r.key', 'r.roots'])
    .select(['r.teamId', 'r.projectId', 'r.environmentId', 'r.revision'])
    .select(['r.eligibilityGeneration', 'r.createdAt'])
    .select(['r.deletedAt', 'r.deletedFrom', 'scope.ownership'])
    .select((eb) => latestRestoration(eb.ref('r.id')).as('restoration'));
}
