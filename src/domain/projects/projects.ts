import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import { readableTeamsSql } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { newId } from '#domain/shared/ids.ts';
import { selectPage } from '#domain/shared/list.ts';
import { underSlug } from '#domain/shared/ownership-graph/slugs.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { type ArchivedFilter, filterArchived, refuseArchived } from '#domain/tenancy/archiving.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Project } from './entity.ts';
import type { CreateProject, UpdateProject } from './model.ts';
import { findProject, type ProjectTarget, selectProjects } from './store.ts';

/** Makes a project of a team. @throws Conflict where the team is archived or has another project of that slug */
export async function createProject(
  em: Em,
  team: TeamTarget,
  request: z.output<typeof CreateProject>,
): Promise<ProjectTarget> {
  refuseArchived(team);
  const id = newId();
  const slug = chooseSlug(request);
  const { name, description } = request;
  const project = em.create(Project, { id, teamId: team.id, name, slug, description });
  await underSlug('project', slug, () => em.persist(project).flush());
  return readBack(findProject(em, id));
}

type Described = Pick<ProjectTarget, 'name' | 'slug' | 'description'>;

/** Changes what a project is called. @throws Conflict for a stale revision, something archived, or a slug that is taken */
export async function updateProject(
  em: Em,
  project: ProjectTarget,
  { expected_revision: expected, ...wanted }: z.output<typeof UpdateProject>,
): Promise<{ updated: ProjectTarget; difference: Difference<Described> }> {
  refuseArchived(project);
  refuseStale(project, expected);
  const { name, slug, description } = project;
  const difference = findDifference<Described>({ name, slug, description }, wanted);
  if (difference.isEmpty) return { updated: project, difference };
  const { after } = difference;
  await underSlug('project', after.slug ?? slug, () =>
    em.nativeUpdate(Project, { id: project.id }, { ...after, revision: project.revision + 1 }),
  );
  return { updated: await readBack(findProject(em, project.id)), difference };
}

/** The projects of the teams that the principal may read, or of one of them. */
export function listProjects(
  em: Em,
  principal: Principal,
  request: PageRequest & ArchivedFilter & { team_id?: string | undefined },
): Promise<Page<ProjectTarget>> {
  const readable = readableTeamsSql(principal, 't.id', 'hidden');
  const where = filterArchived(new Where(), 'project', request)
    .and(readable.sql, ...readable.params)
    .andIf(request.team_id, 't.id = ?');
  return selectPage(em, selectProjects, where, 'p.id', request);
}
