import type { Em } from '#database/database.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { newId } from '#domain/shared/ids.ts';
import { reportingSlugConflict } from '#domain/shared/ownership-graph/slugs.ts';
import { type Difference, findDifference, readBack, refuseStale, saveChange } from '#domain/shared/revisions.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import type { ChangeOf, NewNamed } from '#domain/tenancy/model.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Project } from './entity.ts';
import { findProject, insertProject, type ProjectFields, type ProjectTarget } from './store.ts';

/** Creates a project of a team. @throws Conflict if the team is archived or has another project of that slug */
export async function createProject(
  em: Em,
  team: TeamTarget,
  request: NewNamed<ProjectFields>,
): Promise<ProjectTarget> {
  refuseArchived(team);
  const id = newId();
  const slug = chooseSlug(request);
  await reportingSlugConflict('project', slug, () => insertProject(em, { ...request, id, teamId: team.id, slug }));
  return readBack(findProject(em, id));
}

/** Changes the fields of a project. @throws Conflict for a stale revision, something archived, or a slug that is taken */
export async function updateProject(
  em: Em,
  project: ProjectTarget,
  { expectedRevision, ...wanted }: ChangeOf<ProjectFields>,
): Promise<{ updated: ProjectTarget; difference: Difference<ProjectFields> }> {
  refuseArchived(project);
  refuseStale(project, expectedRevision);
  const difference = findDifference<ProjectFields>(project, wanted);
  if (difference.isEmpty) return { updated: project, difference };
  const { after } = difference;
  await reportingSlugConflict('project', after.slug ?? project.slug, () => saveChange(em, Project, project, after));
  return { updated: await readBack(findProject(em, project.id)), difference };
}
