import type { FastifyReply } from 'fastify';
import { list as listProjects } from '#api/projects/operations.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { type FormField, renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { defaultApproval, environmentKinds } from '#domain/environments/model.ts';
import { create, get, update } from '../operations.ts';
import { kindWords } from './words.ts';

const names = [
  'project_id',
  'name',
  'slug',
  'kind',
  'approval_policy.required',
  'approval_policy.when',
  'approval_policy.allow_self',
  'ttl',
  'isolation',
  'expected_revision',
] as const;
type Typed = Readonly<Record<(typeof names)[number], string>>;

/** The form of a new environment. The kind's own approval policy holds unless another is chosen. */
export async function showNewEnvironment(visit: Visit): Promise<FastifyReply> {
  return showNew(visit, {
    project_id: visit.query('project_id') ?? '',
    kind: 'development',
    'approval_policy.when': '',
  });
}

async function showNew(visit: Visit, typed: Partial<Typed>, problems?: FormProblems): Promise<FastifyReply> {
  const { projects } = await visit.read(listProjects, { query: { limit: '200' } });
  const choices = projects.map(({ id, name }) => ({ value: id, label: name }));
  return show(visit, {
    title: 'New environment',
    action: pagePath(pages.newEnvironment),
    cancel: pagePath(pages.environments),
    verb: 'Create',
    fields: [
      { name: 'project_id', label: 'Project', kind: 'select', choices },
      ...fields,
      ...policyFields(true),
      ...moreFields,
    ],
    typed,
    problems,
  });
}

export async function submitNewEnvironment(visit: Visit): Promise<FastifyReply> {
  const typed = visit.form(...names);
  const { project_id, name, kind } = typed;
  const result = await submit(visit, names, () => {
    const body = { project_id, name: name.trim(), kind, ...toRules(typed) };
    return visit.run(create, { body });
  });
  if (!result.done) return showNew(visit, typed, result.problems);
  return visit.redirect(pagePath(pages.environment, { id: result.result.id }, { done: 'created' }));
}

export async function showEditEnvironment(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  const environment = await visit.read(get, { params: visit.params });
  const { required, when, allow_self: allowSelf } = environment.approval_policy;
  return showEdit(visit, environment.name, {
    name: environment.name,
    slug: environment.slug,
    kind: environment.kind,
    'approval_policy.required': String(required),
    'approval_policy.when': when,
    'approval_policy.allow_self': allowSelf ? 'yes' : '',
    ttl: environment.ttl ?? '',
    isolation: environment.isolation ?? '',
    expected_revision: String(environment.revision),
  });
}

async function showEdit(
  visit: Visit<{ id: string }>,
  name: string,
  typed: Partial<Typed>,
  problems?: FormProblems,
): Promise<FastifyReply> {
  const { id } = visit.params;
  const revision: FormField = { name: 'expected_revision', label: 'Revision', kind: 'hidden' };
  return show(visit, {
    title: `Edit ${name}`,
    action: pagePath(pages.editEnvironment, { id }),
    cancel: pagePath(pages.environment, { id }),
    verb: 'Save',
    fields: [...fields, slugField, ...policyFields(false), ...moreFields, revision],
    typed,
    problems,
  });
}

export async function submitEditEnvironment(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  const typed = visit.form(...names);
  const { name, slug, kind, expected_revision: revision } = typed;
  const result = await submit(visit, names, () => {
    const body = { name: name.trim(), slug, kind, ...toRules(typed), expected_revision: Number(revision) };
    return visit.run(update, { params: visit.params, body });
  });
  if (!result.done) return showEdit(visit, name, typed, result.problems);
  return visit.redirect(pagePath(pages.environment, visit.params, { done: 'saved' }));
}

function toRules(typed: Typed): Record<string, unknown> {
  const when = typed['approval_policy.when'];
  const required = typed['approval_policy.required'];
  return {
    ...(when !== '' && {
      approval_policy: {
        required: required === '' ? undefined : Number(required),
        when,
        allow_self: typed['approval_policy.allow_self'] === 'yes',
      },
    }),
    ttl: typed.ttl.trim() === '' ? null : typed.ttl.trim(),
    isolation: typed.isolation === '' ? null : typed.isolation,
  };
}

const fields: FormField[] = [
  { name: 'name', label: 'Name', maxLength: 100 },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'select',
    choices: environmentKinds.map((value) => ({ value, label: kindWords[value] })),
    hint: `Production starts with ${defaultApproval.production.required} approval of every change. Changing the kind later needs an owner of the team.`,
  },
];

const slugField: FormField = {
  name: 'slug',
  label: 'Short name',
  maxLength: 63,
  hint: 'Unique in its project. The old one is free for others afterwards.',
};

function policyFields(isNew: boolean): FormField[] {
  const ofKind = isNew ? [{ value: '', label: 'As usual for the kind' }] : [];
  return [
    {
      name: 'approval_policy.when',
      label: 'Ask for approval',
      kind: 'select',
      choices: [
        ...ofKind,
        { value: 'never', label: 'Never' },
        { value: 'destroys', label: 'If a plan destroys something' },
        { value: 'changes', label: 'If a plan changes something' },
        ...(isNew ? [] : [{ value: 'always', label: 'Always, if a plan changes something' }]),
      ],
    },
    {
      name: 'approval_policy.required',
      label: 'How many people must approve',
      kind: 'number',
      min: 0,
      max: 5,
      isOptional: isNew,
    },
    { name: 'approval_policy.allow_self', label: 'Whoever asked for a run may approve it', kind: 'checkbox' },
  ];
}

const moreFields: FormField[] = [
  {
    name: 'ttl',
    label: 'Time to live',
    isOptional: true,
    hint: 'Deployments are due for destruction after it, such as 8h or P7D. Empty: they stay.',
  },
  {
    name: 'isolation',
    label: 'Workers',
    kind: 'select',
    choices: [
      { value: '', label: 'Any worker executes its runs' },
      { value: 'sandbox', label: 'Only workers with a sandbox' },
    ],
  },
];

interface Shown {
  readonly title: string;
  readonly action: LocalPath;
  readonly cancel: LocalPath;
  readonly verb: string;
  readonly fields: readonly FormField[];
  readonly typed: Partial<Typed>;
  readonly problems: FormProblems | undefined;
}

function show(
  visit: Visit,
  { title, action, cancel, verb, fields: shown, typed, problems }: Shown,
): Promise<FastifyReply> {
  const form = renderForm({
    action,
    cancel,
    fields: shown,
    submit: verb,
    typed: typed as Record<string, string>,
    problems: problems ?? null,
  });
  const page = {
    title,
    hasProblem: problems !== undefined,
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs: [{ label: 'Environments', path: pagePath(pages.environments) }] })}
<div class="panel">${form}</div></div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}
