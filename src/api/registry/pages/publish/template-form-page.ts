import type { FastifyReply } from 'fastify';
import { readTeamsForNew } from '#api/tenancy/pages/teams-for-new.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import type { Choice, FormField } from '#api/web/forms/form.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { readNames } from '#domain/tenancy/names-store.ts';
import { create, get, update } from '../../template-operations.ts';
import type { ShownTemplate } from '../shown.ts';

const described = ['name', 'slug', 'description', 'tags', 'readme'] as const;
const newNames = ['team_id', ...described] as const;
const editNames = [...described, 'expected_revision'] as const;

type Typed = Readonly<Record<string, string>>;

export async function showNew(
  visit: Visit,
  problems: FormProblems | null = null,
  typed: Typed = {},
): Promise<FastifyReply> {
  const choices = await readOwnerChoices(visit);
  const team: FormField = {
    name: 'team_id',
    label: 'Owner',
    kind: 'select',
    value: visit.scope.teamId ?? choices[0]?.value ?? '',
    choices,
    hint: 'A template of a team runs in the environments of that team alone. One of the installation runs in all of them.',
  };
  const page = {
    title: 'New template',
    hasProblem: problems !== null,
    main: html`<div class="page page-narrow">
${renderPageHead({ title: 'New template', crumbs: [{ label: 'Catalog', path: pagePath(pages.catalog) }], below: 'Its versions, which hold what is deployed, are published one by one.' })}
<div class="panel">${renderForm({
      action: pagePath(pages.newTemplate),
      fields: [team, ...fieldsOf(null)],
      typed,
      problems,
      submit: 'Create the template',
      cancel: pagePath(pages.catalog),
    })}</div></div>`,
  };
  return visit.show(page, problems?.status);
}

export async function submitNew(visit: Visit): Promise<FastifyReply> {
  const typed = visit.form(...newNames);
  const body = { ...toBody(typed), ...(typed.slug && { slug: typed.slug }), team_id: typed.team_id || null };
  const sent = await submit(visit, newNames, () => visit.run(create, { body }));
  if (!sent.done) return showNew(visit, sent.problems, typed);
  return visit.redirect(pagePath(pages.template, { id: sent.result.id }, { done: 'created' }));
}

type TemplateVisit = Visit<{ id: string }>;

export async function showEdit(
  visit: TemplateVisit,
  problems: FormProblems | null = null,
  typed: Typed = {},
): Promise<FastifyReply> {
  const { id } = visit.params;
  const template = await visit.read(get, { params: { id } });
  const title = `Edit ${template.name}`;
  const revision: FormField = {
    name: 'expected_revision',
    label: 'Revision',
    kind: 'hidden',
    value: String(template.revision),
  };
  const page = {
    title,
    hasProblem: problems !== null,
    main: html`<div class="page page-narrow">
${renderPageHead({
  title,
  crumbs: [
    { label: 'Catalog', path: pagePath(pages.catalog) },
    { label: template.name, path: pagePath(pages.template, { id }) },
  ],
})}
<div class="panel">${renderForm({
      action: pagePath(pages.editTemplate, { id }),
      fields: [...fieldsOf(template), revision],
      typed,
      problems,
      submit: 'Save',
      cancel: pagePath(pages.template, { id }),
    })}</div></div>`,
  };
  return visit.show(page, problems?.status);
}

export async function submitEdit(visit: TemplateVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const typed = visit.form(...editNames);
  const body = { ...toBody(typed), slug: typed.slug, expected_revision: Number(typed.expected_revision) };
  const sent = await submit(visit, editNames, () => visit.run(update, { params: { id }, body }));
  if (!sent.done) return showEdit(visit, sent.problems, typed);
  return visit.redirect(pagePath(pages.template, { id }, { done: 'saved' }));
}

function fieldsOf(template: ShownTemplate | null): FormField[] {
  return [
    { name: 'name', label: 'Name', value: template?.name, maxLength: 100 },
    {
      name: 'slug',
      label: 'Slug',
      value: template?.slug,
      maxLength: 63,
      isOptional: template === null,
      hint: 'Names instances that are given no name: lowercase letters, digits and hyphens. Made from the name if left empty.',
    },
    {
      name: 'description',
      label: 'Description',
      kind: 'area',
      value: template?.description,
      isOptional: true,
      maxLength: 4000,
      hint: 'What it deploys, in a sentence or two. The catalog shows it.',
    },
    {
      name: 'tags',
      label: 'Tags',
      value: template?.tags.join(', '),
      isOptional: true,
      hint: 'Separated by commas, such as network, aws.',
    },
    {
      name: 'readme',
      label: 'Readme',
      kind: 'code',
      value: template?.readme,
      isOptional: true,
      hint: 'Markdown for those who choose and use it.',
    },
  ];
}

function toBody({ name, description, tags, readme }: Record<(typeof described)[number], string>) {
  const named = tags.split(',').flatMap((tag) => tag.trim() || []);
  return { name, description, tags: named, readme: readme.replaceAll('\r\n', '\n') };
}

/** The owners whose templates the visitor may make. A visitor who may make none is told so by the operation. */
async function readOwnerChoices(visit: Visit): Promise<Choice[]> {
  const owners = [...(await readTeamsForNew(visit)), installationOwnership];
  const allowed = owners.filter((owner) => visit.mayDo(create, owner).allowed);
  const shown = allowed.length > 0 ? allowed : [installationOwnership];
  const names = await readNames(visit.em, { teams: shown.map(({ teamId }) => teamId) });
  return shown.map(({ teamId }) =>
    teamId === null
      ? { value: '', label: 'The whole installation' }
      : { value: teamId, label: names.get(teamId)?.name ?? teamId },
  );
}
