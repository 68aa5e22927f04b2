import type { Kysely } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockRows, toChange } from '#database/row-lock.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { ArchivedFilter } from '#domain/shared/archiving.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { presentTeams } from '#domain/teams/store.ts';
import { archivedComparison, archivedLevels, prepareLookup } from '#domain/tenancy/store.ts';
import { Project } from './entity.ts';
import { projectFields } from './model.ts';

/** Projects `p` with team `t` and organization `o`. Omits rows that are deleted at any level. */
export function presentProjects(queries: Kysely<Tables>) {
  return presentTeams(queries).innerJoin('projects as p', 'p.teamId', 't.id').where('p.deletedAt', 'is', null);
}

function selectProjects(queries: Kysely<Tables>) {
  return presentProjects(queries)
    .select([
      'p.id',
      'o.id as organizationId',
      't.id as teamId',
      ...projectFields.map((field) => `p.${field}` as const),
      'p.eligibilityGeneration',
      'p.revision',
      'p.createdAt',
      'p.archivedAt',
    ])
    .select((eb) =>
      archivedLevels({
        organization: eb.ref('o.archivedAt'),
        team: eb.ref('t.archivedAt'),
        project: eb.ref('p.archivedAt'),
      }).as('archived'),
    );
}

/** The columns of a project for authorization and answers. */
export type ProjectTarget = RowOf<typeof selectProjects>;

/** The fields of a project that people can change. */
export type ProjectFields = Pick<ProjectTarget, (typeof projectFields)[number]>;

/** A project by its id; undefined if it or an owner was deleted. `lock` locks its row and its owners'. */
export const findProject = prepareLookup((queries, id, lock) =>
  lockRows(selectProjects(queries).where('p.id', '=', id), ['o', 't', 'p'], lock),
);

/** The project that a command changes. `lock` locks its row for the change. */
export function findProjectToChange(em: Em, id: string, lock: boolean) {
  return findProject(em, id, toChange(lock));
}

export interface ProjectFilter {
  readonly teamId?: string | undefined;
  readonly organizationId?: string | undefined;
}

/** The projects of the teams that the principal may read, of all of them or of those in the filter. */
export function listProjects(
  em: Em,
  principal: Principal,
  { teamId, organizationId, ...request }: PageRequest & ArchivedFilter & ProjectFilter,
): Promise<Page<ProjectTarget>> {
  const readable = selectProjects(db(em))
    .where('p.archivedAt', archivedComparison(request), null)
    .where((eb) => isInReadableTeam(principal, eb.ref('t.id'), 'hidden'))
    .$if(teamId !== undefined, (query) => query.where('t.id', '=', teamId ?? ''))
    .$if(organizationId !== undefined, (query) => query.where('o.id', '=', organizationId ?? ''));
  return pageOf(readable, 'p.id', request);
}

export async function insertProject(
  em: Em,
  project: ProjectFields & Pick<ProjectTarget, 'id' | 'teamId'>,
): Promise<void> {
  await em.persist(em.create(Project, project)).flush();
}
