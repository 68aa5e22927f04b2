import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { findOrganization } from '#domain/organizations/store.ts';
import { findProject } from '#domain/projects/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { findTeamById } from '#domain/teams/store.ts';
import { archivedLevels } from '#domain/tenancy/store.ts';
import type { Selector } from '../model.ts';

/** Where a selector leads: the thing with everything that owns it, as one statement read it. */
export interface Place extends Ownership, Archivable {
  readonly selector: Selector;
  readonly organizationId: string;
  readonly teamId: string | null;
  readonly projectId: string | null;
  readonly environmentId: string | null;
  readonly resourceId: string | null;
  /** The installation of a resource; null for scopes. */
  readonly installationId: string | null;
  readonly teamRevision: number | null;
  readonly projectRevision: number | null;
  readonly environmentRevision: number | null;
  /** The ids of the thing and its owners, outermost first, each with its eligibility generation. It never has an earlier value again. */
  readonly basis: string;
  /** Neither the thing nor an owner of it was deleted. */
  readonly isPresent: boolean;
  /** No owner of it was deleted, whether or not it was itself. */
  readonly hasOwners: boolean;
}

/** The place of a selector, also one that was deleted; undefined if there never was one. */
export async function findPlace(em: Em, selector: Selector): Promise<Place | undefined> {
  const idIf = (...types: Selector['type'][]) => (types.includes(selector.type) ? selector.id : null);
  const found = await db(em)
    .selectFrom(
      sql<{ environment: string; project: string; team: string; organization: string; resource: string }>`(select
        ${idIf('resource')}::uuid as resource, ${idIf('environment')}::uuid as environment,
        ${idIf('project')}::uuid as project, ${idIf('team')}::uuid as team,
        ${idIf('organization', 'organization_descendants')}::uuid as organization)`.as('s'),
    )
    .leftJoin('plugin_resources as r', 'r.id', 's.resource')
    .leftJoin('environments as e', (join) =>
      join.on((eb) => eb('e.id', '=', eb.fn.coalesce('s.environment', 'r.environment_id'))),
    )
    .leftJoin('projects as p', (join) =>
      join.on((eb) => eb('p.id', '=', eb.fn.coalesce('s.project', 'e.project_id', 'r.project_id'))),
    )
    .leftJoin('teams as t', (join) =>
      join.on((eb) => eb('t.id', '=', eb.fn.coalesce('s.team', 'p.team_id', 'r.team_id'))),
    )
    .innerJoin('organizations as o', (join) =>
      join.on((eb) => eb('o.id', '=', eb.fn.coalesce('s.organization', 't.organization_id'))),
    )
    .select(['o.id as organizationId', 't.id as teamId', 'p.id as projectId', 'e.id as environmentId'])
    .select(['r.id as resourceId', 'r.installation_id as installationId', 't.revision as teamRevision'])
    .select(['p.revision as projectRevision', 'e.revision as environmentRevision'])
    .select((eb) => [
      archivedLevels({
        organization: eb.ref('o.archived_at'),
        team: eb.ref('t.archived_at'),
        project: eb.ref('p.archived_at'),
        environment: eb.ref('e.archived_at'),
      }).as('archived'),
      sql<string>`concat_ws(' ', o.id, o.eligibility_generation, t.id, t.eligibility_generation, p.id,
        p.eligibility_generation, e.id, e.eligibility_generation, r.id, r.eligibility_generation)`.as('basis'),
      sql<boolean>`coalesce(r.deleted_at, e.deleted_at, p.deleted_at, t.deleted_at, o.deleted_at) is null`.as(
        'isPresent',
      ),
      sql<boolean>`coalesce(e.deleted_at, p.deleted_at, t.deleted_at, o.deleted_at) is null`.as('hasOwners'),
    ])
    .executeTakeFirst();
  return found && { ...found, selector };
}

/** Shares the rows of the owners of a place against change until the commit, in the order of all locks. A resource's own row is not among them. */
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
