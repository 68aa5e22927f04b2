import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Em } from '#database/database.ts';
import { declaredTables } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { isPlatformAdministrator, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam, isTeamOf } from '#domain/shared/access/readable-teams-store.ts';
import type { OwnerIds } from './owner.ts';

/** The columns of a row that name its owner (`ownerColumns`). */
export interface OwnerRefs {
  readonly organization: Expression<string | null>;
  readonly team: Expression<string | null>;
  readonly project: Expression<string | null>;
}

/**
 * The condition of a list that a principal may read a row by its owner: rows of a team and its projects for those who may read the team,
 * rows of an organization for its members. `installation` says whether everybody who may use the list may read rows of the installation, or
 * only administrators. Put it into the query of the list, so that a page contains only what the principal may read.
 */
export function isOfReadableOwner(
  principal: Principal,
  { organization, team }: OwnerRefs,
  installation: 'visible' | 'administrators',
): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  if (isPlatformAdministrator(principal)) return eb.lit(true);
  const isOfTeam = isInReadableTeam(principal, team, 'hidden');
  const isOfOrganization = eb(organization, '=', eb.fn.any(eb.val(Object.keys(principal.organizations))));
  const isInstallations = eb.and([eb(organization, 'is', null), eb(team, 'is', null)]);
  const isShown = installation === 'visible' || principal.role === 'admin';
  return eb.or([isOfTeam, isOfOrganization, ...(isShown ? [isInstallations] : [])]);
}

/** The condition that a row belongs to the owner that a list is filtered by, or to something below that owner. */
export function isOfOwner(filter: OwnerIds, { organization, team, project }: OwnerRefs): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const { organizationId, teamId, projectId } = filter;
  const conditions: Expression<SqlBool>[] = [];
  if (projectId) conditions.push(eb(project, '=', projectId));
  if (teamId) conditions.push(eb(team, '=', teamId));
  if (organizationId) conditions.push(eb.or([eb(organization, '=', organizationId), isTeamOf(organizationId, team)]));
  return eb.and(conditions);
}

/**
 * The condition that a row's owner is a thing's own or above it, so that the thing may use the row: the row of the installation, of its
 * organization, of its team, or of its project. If a thing lacks an owner at a level, it uses no rows of that level, because nothing equals
 * null in SQL.
 */
export function coversOwner(
  { organization, team, project }: OwnerRefs,
  thing: {
    readonly organizationId: string | null;
    readonly teamId: string | null;
    readonly projectId: string | null;
  },
): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const isInstallations = eb.and([eb(organization, 'is', null), eb(team, 'is', null)]);
  const isOfTeam = eb.and([eb(team, '=', thing.teamId), eb(project, 'is', null)]);
  const isOfProject = thing.projectId === null ? [] : [eb(project, '=', thing.projectId)];
  return eb.or([isInstallations, eb(organization, '=', thing.organizationId), isOfTeam, ...isOfProject]);
}

/** The owners of a row of a table with `ownerColumns`, in one query; undefined if there is no such row, or if its owner was deleted. */
export function findOwnershipOf(em: Em, table: keyof Tables & string, id: string): Promise<Ownership | undefined> {
  return declaredTables(em)
    .selectFrom(`${table} as x`)
    .leftJoin('projects as p', 'p.id', 'x.projectId')
    .leftJoin('teams as t', 't.id', 'x.teamId')
    .leftJoin('organizations as o', (join) =>
      join.on((eb) => eb('o.id', '=', eb.fn.coalesce('x.organizationId', 't.organizationId'))),
    )
    .where('x.id', '=', id)
    .where('p.deletedAt', 'is', null)
    .where('t.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .select((eb) => ['x.teamId', eb.fn.coalesce('x.organizationId', 't.organizationId').as('organizationId')])
    .$castTo<Ownership>()
    .executeTakeFirst();
}
