import type { FastifyReply } from 'fastify';
import { list as listEnvironments } from '#api/environments/operations.ts';
import { list as listTemplates } from '#api/registry/template-operations.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { confirmationPage } from '#api/web/forms/confirmation.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { create, get, remove, unlock } from '../operations.ts';
import type { InstanceVisit } from './table.ts';

const names = ['template_id', 'environment_id', 'name'] as const;

/** The form of an instance that is made to adopt what exists. */
export async function showNewInstance(visit: Visit): Promise<FastifyReply> {
  const typed = { template_id: visit.query('template_id') ?? '', environment_id: visit.query('environment_id') ?? '' };
  return showNew(visit, typed, null);
}

async function showNew(
  visit: Visit,
  typed: Record<string, string>,
  problems: FormProblems | null,
): Promise<FastifyReply> {
  const [{ templates }, { environments }] = await Promise.all([
    visit.read(listTemplates, { query: { limit: '200' } }),
    visit.read(listEnvironments, { query: { limit: '200' } }),
  ]);
  const choices = (things: readonly { id: string; name: string }[]) =>
    things.map(({ id, name }) => ({ value: id, label: name }));
  const title = 'Adopt infrastructure';
  const page = {
    title,
    hasProblem: problems !== null,
    main: html`<div class="page page-narrow">
${renderPageHead({
  title,
  crumbs: [{ label: 'Instances', path: pagePath(pages.instances) }],
  below:
    'Makes an instance without running anything. Then import the state of what exists into it. A run makes its instance by itself.',
})}
<div class="panel">${renderForm({
      action: pagePath(pages.newInstance),
      fields: [
        { name: 'template_id', label: 'Template', kind: 'select', choices: choices(templates) },
        {
          name: 'environment_id',
          label: 'Environment',
          kind: 'select',
          choices: [{ value: '', label: 'None' }, ...choices(environments)],
        },
        { name: 'name', label: 'Name', maxLength: 63, hint: 'Runs name it, such as network.' },
      ],
      typed,
      problems,
      submit: 'Make the instance',
      cancel: pagePath(pages.instances),
    })}</div></div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}

export async function submitNewInstance(visit: Visit): Promise<FastifyReply> {
  const typed = visit.form(...names);
  const result = await submit(visit, names, () => {
    const { template_id, environment_id, name } = typed;
    return visit.run(create, { body: { template_id, name, ...(environment_id && { environment_id }) } });
  });
  if (!result.done) return showNew(visit, typed, result.problems);
  return visit.redirect(pagePath(pages.instance, { id: result.result.id }, { done: 'created' }));
}

interface Question {
  readonly verb: string;
  readonly consequences: Html | string;
  readonly action: (params: { id: string }) => LocalPath;
}

const unlocking: Question = {
  verb: 'Unlock',
  consequences:
    'Frees an instance that is locked although nothing works on it. It is refused while an attempt of a run lives. The audit keeps who did it.',
  action: (params) => pagePath(pages.unlockInstance, params),
};
const deletion: Question = {
  verb: 'Delete',
  consequences: 'The instance goes, and its name is free again. Its runs and their records stay. It must hold nothing.',
  action: (params) => pagePath(pages.deleteInstance, params),
};

async function ask(
  visit: InstanceVisit,
  { verb, consequences, action }: Question,
  problems: FormProblems | null = null,
): Promise<FastifyReply> {
  const { name } = await visit.read(get, { params: visit.params });
  const page = confirmationPage({
    title: `${verb} ${name}`,
    crumbs: [{ label: 'Instances', path: pagePath(pages.instances) }],
    consequences,
    verb,
    fields: [],
    action: action(visit.params),
    cancel: pagePath(pages.instance, visit.params),
    problems,
  });
  return visit.show(page, problems?.status ?? 200);
}

export const confirmUnlocking = (visit: InstanceVisit) => ask(visit, unlocking);
export const confirmDeletion = (visit: InstanceVisit) => ask(visit, deletion);

export async function submitUnlocking(visit: InstanceVisit): Promise<FastifyReply> {
  visit.form();
  const result = await submit(visit, [], () => visit.run(unlock, { params: visit.params }));
  if (!result.done) return ask(visit, unlocking, result.problems);
  return visit.redirect(pagePath(pages.instance, visit.params, { done: 'unlocked' }));
}

export async function submitDeletion(visit: InstanceVisit): Promise<FastifyReply> {
  visit.form();
  const result = await submit(visit, [], () => visit.run(remove, { params: visit.params }));
  if (!result.done) return ask(visit, deletion, result.problems);
  return visit.redirect(pagePath(pages.instances));
}
