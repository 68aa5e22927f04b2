import type { Em } from '#database/database.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { newId } from '#domain/shared/ids.ts';
import { reportingSlugConflict } from '#domain/shared/ownership-graph/slugs.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import type { NewProject, ProjectChange } from './model.ts';
import { findProject, insertProject, type ProjectTarget, saveProject } from './store.ts';

/** Makes a project of a team. @throws Conflict if the team is archived or has another project of that slug */
export async function createProject(em: Em, team: TeamTarget, request: NewProject): Promise<ProjectTarget> {
  refuseArchived(team);
  const id = newId();
  const slug = chooseSlug(request);
  const { name, description } = request;
  await reportingSlugConflict('project', slug, () =>
    insertProject(em, { id, teamId: team.id, name, slug, description }),
  );
  return readBack(findProject(em, id));
}

type Described = Pick<ProjectTarget, 'name' | 'slug' | 'description'>;

/** Changes a project's name, slug or description. @throws Conflict for a stale revision, something archived, or a slug that is taken */
export async function updateProject(
  em: Em,
  project: ProjectTarget,
  { expectedRevision, ...wanted }: ProjectChange,
): Promise<{ updated: ProjectTarget; difference: Difference<Described> }> {
  refuseArchived(project);
  refuseStale(project, expectedRevision);
  const { name, slug, description } = project;
  const difference = findDifference<Described>({ name, slug, description }, wanted);
  if (difference.isEmpty) return { updated: project, difference };
  const { after } = difference;
  await reportingSlugConflict('project', after.slug ?? slug, () => saveProject(em, project, after));
  return { updated: await readBack(findProject(em, project.id)), difference };
}
