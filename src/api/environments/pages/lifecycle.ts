import type { FastifyReply } from 'fastify';
import { confirmationPage } from '#api/web/forms/confirmation.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { archive, get, remove, unarchive } from '../operations.ts';

type EnvironmentVisit = Visit<{ id: string }>;

export async function confirmArchiving(visit: EnvironmentVisit): Promise<FastifyReply> {
  return showArchiving(visit, null);
}

async function showArchiving(visit: EnvironmentVisit, problems: FormProblems | null): Promise<FastifyReply> {
  const { id } = visit.params;
  const { name } = await visit.read(get, { params: { id } });
  const page = confirmationPage({
    title: `Archive ${name}`,
    crumbs: [{ label: 'Environments', path: pagePath(pages.environments) }],
    consequences:
      'It takes nothing new, and no run starts in it. What is deployed stays deployed. You can unarchive it.',
    verb: 'Archive',
    fields: [],
    action: pagePath(pages.archiveEnvironment, { id }),
    cancel: pagePath(pages.environment, { id }),
    problems,
  });
  return visit.show(page, problems?.status ?? 200);
}

export async function submitArchiving(visit: EnvironmentVisit): Promise<FastifyReply> {
  visit.form();
  const result = await submit(visit, [], () => visit.run(archive, { params: visit.params }));
  if (!result.done) return showArchiving(visit, result.problems);
  return visit.redirect(pagePath(pages.environment, visit.params, { done: 'archived' }));
}

export async function submitUnarchiving(visit: EnvironmentVisit): Promise<FastifyReply> {
  visit.form();
  await visit.run(unarchive, { params: visit.params });
  return visit.redirect(pagePath(pages.environment, visit.params, { done: 'unarchived' }));
}

export async function confirmDeletion(visit: EnvironmentVisit): Promise<FastifyReply> {
  return showDeletion(visit, {}, null);
}

async function showDeletion(
  visit: EnvironmentVisit,
  typed: Record<string, string>,
  problems: FormProblems | null,
): Promise<FastifyReply> {
  const { id } = visit.params;
  const { name } = await visit.read(get, { params: { id } });
  const page = confirmationPage({
    title: `Delete ${name}`,
    crumbs: [{ label: 'Environments', path: pagePath(pages.environments) }],
    consequences: html`<p>The environment and its variables are deleted for good, and its name is free again. Its runs and their records stay.</p>
<p>This works only while nothing is deployed in it.</p>`,
    verb: 'Delete',
    fields: [],
    hasKey: true,
    typed,
    action: pagePath(pages.deleteEnvironment, { id }),
    cancel: pagePath(pages.environment, { id }),
    problems,
  });
  return visit.show(page, problems?.status ?? 200);
}

export async function submitDeletion(visit: EnvironmentVisit): Promise<FastifyReply> {
  const { key } = visit.form('key');
  const result = await submit(visit, [], () => visit.run(remove, { params: visit.params, key }));
  // A key that met a conflict is not used up, but a new form is a new attempt.
  if (!result.done) return showDeletion(visit, {}, result.problems);
  return visit.redirect(pagePath(pages.environments));
}
