import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { findOrganization } from '#domain/organizations/store.ts';
import { findProject } from '#domain/projects/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { findTeamById } from '#domain/teams/store.ts';
import type { Selector } from '../model.ts';
import type { OwnershipSnapshot } from './ownership-snapshot.ts';
import { isReadableScope, scopeOf } from './scope-store.ts';

/** The place of a selector: the thing and all its owners, read by one statement. */
export interface Place extends Ownership, Archivable {
  readonly selector: Selector;
  readonly organizationId: string;
  readonly teamId: string | null;
  readonly projectId: string | null;
  readonly environmentId: string | null;
  readonly resourceId: string | null;
  /** The installation of a resource; null for other places. */
  readonly installationId: string | null;
  readonly ownership: OwnershipSnapshot;
  readonly ownerChain: string;
  /** Whether neither the thing nor an owner of it was deleted. */
  readonly isPresent: boolean;
  /** Whether no owner of it was deleted; the thing itself may be. */
  readonly hasOwners: boolean;
}

/** The place of a selector, even a deleted one; undefined if it never existed. */
export async function findPlace(em: Em, selector: Selector): Promise<Place | undefined> {
  const { type, id } = selector;
  const found = await db(em)
    .selectFrom(scopeOf(sql`${type}::text`, sql`${id}::uuid`))
    .where('scope.organizationId', 'is not', null)
    .select(['scope.organizationId', 'scope.teamId', 'scope.projectId'])
    .select(['scope.environmentId', 'scope.resourceId'])
    .select(['scope.installationId', 'scope.archived', 'scope.ownership'])
    .select(['scope.ownerChain', 'scope.hasOwners'])
    .select(sql<boolean>`scope.obstacle is distinct from 'deleted'`.as('isPresent'))
    .$narrowType<{ organizationId: string; ownerChain: string }>()
    .executeTakeFirst();
  return found && { ...found, selector };
}

/** Those of some places that a principal may read. */
export async function findReadable(
  em: Em,
  principal: Principal,
  selectors: readonly Selector[],
): Promise<readonly Selector[]> {
  const [types, ids] = [selectors.map(({ type }) => type), selectors.map(({ id }) => id)];
  if (ids.length === 0) return [];
  return db(em)
    .selectFrom(sql<Selector>`unnest(${types}::text[], ${ids}::uuid[])`.as<'s'>(sql`s(type, id)`))
    .innerJoinLateral(scopeOf(sql`s.type`, sql`s.id`), (join) => join.onTrue())
    .where(isReadableScope(principal))
    .select(['s.type', 's.id'])
    .execute();
}

/** Takes share locks on the owners of a place until the commit, in the general order of locks. A resource's own row is not locked. */
async function lockOwners(em: Em, { environmentId, projectId, teamId, organizationId }: Place): Promise<void> {
  if (environmentId) await findEnvironment(em, environmentId, true);
  else if (projectId) await findProject(em, projectId, true);
  else if (teamId) await findTeamById(em, teamId, true);
  else await findOrganization(em, organizationId, true);
}

/** The place of a selector; with `lock`, its owners cannot change until the commit. */
export async function findLockedPlace(em: Em, selector: Selector, lock: boolean): Promise<Place | undefined> {
  const known = await findPlace(em, selector);
  if (!known || !lock) return known;
  await lockOwners(em, known);
  return findPlace(em, selector);
}

/** The place of a selector, unless it or an owner of it was deleted. */
export async function findPresentPlace(em: Em, selector: Selector, lock = false): Promise<Place | undefined> {
  const place = await findLockedPlace(em, selector, lock);
  return place?.isPresent ? place : undefined;
}
