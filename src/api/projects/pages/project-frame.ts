import type { z } from 'zod';
import { teamPath } from '#api/teams/pages/team-frame.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { get } from '../operations.ts';
import type { ProjectView } from '../views.ts';

/** A project with the name of its team. */
export interface ProjectSubject extends z.input<typeof ProjectView> {
  readonly teamName: string;
}

export type ProjectVisit = Visit<{ id: string }>;

export async function readProject(visit: ProjectVisit): Promise<ProjectSubject> {
  const project = await visit.read(get, { params: { id: visit.params.id } });
  const names = await readNames(visit.em, { teams: [project.team_id] });
  return { ...project, teamName: names.get(project.team_id)?.name ?? 'Team' };
}

export function projectPath({ id }: { readonly id: string }, done?: ConfirmationOf<typeof pages.project>): LocalPath {
  return pagePath(pages.project, { id }, { done });
}

/** The pages above a project. */
export function parentCrumbs({ team_id: id, organization_id, teamName }: ProjectSubject): Crumb[] {
  return [
    { label: 'Projects', path: pagePath(pages.projects) },
    { label: teamName, path: teamPath({ id, organization_id }) },
  ];
}

export function projectCrumbs(project: ProjectSubject): Crumb[] {
  return [...parentCrumbs(project), { label: project.name, path: projectPath(project) }];
}

/** Declares a form about projects. */
export const projectForm = formsAbout({ read: readProject, crumbs: projectCrumbs, path: projectPath });
