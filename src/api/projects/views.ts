import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { commonFields } from '#api/tenancy/views.ts';
import type { Em } from '#database/database.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';
import { withUse } from '#domain/tenancy/use.ts';
import { projectActions } from './actions.ts';

const fields = {
  ...commonFields,
  organization_id: AnswerId,
  team_id: AnswerId,
  description: z.string(),
};

/** A project in a list. */
export const ListedProjectView = z.object(fields).meta({ id: 'ListedProject' });

/** A project in every answer about one project. */
export const ProjectView = z.object({ ...fields, actions: projectActions.view }).meta({ id: 'Project' });

export function viewProject(project: ProjectTarget) {
  return answerOf(fields, project);
}

/** Shows one project with the actions that the caller may take. */
export async function showProject(em: Em, context: ActionContext, project: ProjectTarget) {
  const used = await withUse(em, context.principal, 'project', project);
  return { ...viewProject(project), actions: projectActions.describe(context, used) };
}
