import type { FastifyReply } from 'fastify';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { confirmationPage } from '#api/web/forms/confirmation.ts';
import { type FormField, renderForm } from '#api/web/forms/form.ts';
import { type FormProblems, submit } from '#api/web/forms/problems.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { invalidField } from '#domain/shared/errors.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { get as getEnvironment } from '../operations.ts';
import { get, remove, set } from '../variable-operations.ts';

type VariableVisit = Visit<{ id: string; name: string }>;
const names = [
  'name',
  'category',
  'value',
  'has_plan_value',
  'plan_value',
  'sensitive',
  'plan',
  'apply',
  'expected_revision',
] as const;
type Typed = Readonly<Record<(typeof names)[number], string>>;

export async function showNewVariable(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  return showForm(visit, { typed: { category: 'template', plan: 'yes', apply: 'yes' } });
}

export async function showVariable(visit: VariableVisit): Promise<FastifyReply> {
  const variable = await visit.read(get, { params: visit.params });
  const { name, category, sensitive, phases, value, plan_value: planValue, has_plan_value: hasPlanValue } = variable;
  const show = (shown: JsonValue) => (typeof shown === 'string' ? shown : JSON.stringify(shown));
  const typed = {
    name,
    category,
    value: sensitive ? '' : show(value),
    has_plan_value: hasPlanValue ? 'yes' : '',
    plan_value: planValue === null ? '' : show(planValue),
    sensitive: sensitive ? 'yes' : '',
    plan: phases.includes('plan') ? 'yes' : '',
    apply: phases.includes('apply') ? 'yes' : '',
    expected_revision: String(variable.revision),
  };
  return showForm(visit, { typed, existing: name, keepsSecret: sensitive });
}

/** Sets a variable, from the form of a new one or of an existing one. */
export async function submitVariable(visit: Visit<{ id: string; name?: string }>): Promise<FastifyReply> {
  const typed = visit.form(...names);
  const { id, name: existing } = visit.params;
  const name = existing ?? typed.name.trim();
  const result = await submit(visit, names, () =>
    visit.run(set, { params: { id, name }, body: toBody(typed, existing !== undefined) }),
  );
  if (result.done) return visit.redirect(pagePath(pages.environment, { id }, { tab: 'variables', done: 'variable' }));
  return showForm(visit, {
    typed,
    existing,
    problems: result.problems,
    keepsSecret: typed.sensitive === 'yes' && existing !== undefined,
  });
}

function toBody(typed: Typed, exists: boolean): Record<string, unknown> {
  const sensitive = typed.sensitive === 'yes';
  const phases = (['plan', 'apply'] as const).filter((phase) => typed[phase] === 'yes');
  if (phases.length === 0) throw invalidField('plan', 'choose at least one phase');
  const keepsValue = exists && sensitive && typed.value === '';
  return {
    category: typed.category,
    sensitive,
    phases,
    ...(!keepsValue && { value: readValue(typed.category, typed.value) }),
    ...toPlanValue(typed, exists),
    ...(typed.expected_revision && { expected_revision: Number(typed.expected_revision) }),
  };
}

/** An empty field keeps a secret value for planning that there is. */
function toPlanValue(typed: Typed, exists: boolean): Record<string, unknown> {
  const { category, sensitive, has_plan_value: has, plan_value: value } = typed;
  if (has !== 'yes') return { has_plan_value: false };
  const keepsValue = exists && sensitive === 'yes' && value === '';
  return { has_plan_value: true, ...(!keepsValue && { plan_value: readValue(category, value) }) };
}

/** A default of a template may be any JSON; text that is no JSON is meant as it is. An environment variable is always text. */
function readValue(category: string, value: string): JsonValue {
  if (category === 'env') return value;
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return value;
  }
}

interface ShownForm {
  readonly typed: Partial<Typed>;
  readonly existing?: string | undefined;
  readonly keepsSecret?: boolean;
  readonly problems?: FormProblems;
}

async function showForm(
  visit: Visit<{ id: string }>,
  { typed: sent, existing, keepsSecret = false, problems }: ShownForm,
): Promise<FastifyReply> {
  // A page never shows a secret, not even in a form that was refused.
  const typed = sent.sensitive === 'yes' ? { ...sent, value: '', plan_value: '' } : sent;
  const { id } = visit.params;
  const environment = await visit.read(getEnvironment, { params: { id } });
  const back = pagePath(pages.environment, { id }, { tab: 'variables' });
  const title = existing === undefined ? 'Add a variable' : `Variable ${existing}`;
  const form = renderForm({
    action:
      existing === undefined
        ? pagePath(pages.newEnvironmentVariable, { id })
        : pagePath(pages.environmentVariable, { id, name: existing }),
    fields: fieldsOf(existing, keepsSecret),
    typed: typed as Record<string, string>,
    submit: 'Save',
    cancel: back,
    problems: problems ?? null,
  });
  const page = {
    title,
    hasProblem: problems !== undefined,
    main: html`<div class="page page-narrow">
${renderPageHead({
  title,
  crumbs: [
    { label: 'Environments', path: pagePath(pages.environments) },
    { label: environment.name, path: back },
  ],
  actions:
    existing === undefined
      ? null
      : html`<a class="button button-danger" href="${pagePath(pages.deleteEnvironmentVariable, { id, name: existing })}">Remove</a>`,
})}
<div class="panel">${form}</div></div>`,
  };
  return visit.show(page, problems?.status ?? 200);
}

function fieldsOf(existing: string | undefined, keepsSecret: boolean): FormField[] {
  return [
    existing === undefined
      ? {
          name: 'name',
          label: 'Name',
          hint: 'As the template or the tool knows it, such as region or AWS_REGION.',
          maxLength: 128,
        }
      : { name: 'name', label: 'Name', kind: 'hidden' },
    {
      name: 'category',
      label: 'Given as',
      kind: 'select',
      choices: [
        { value: 'template', label: 'Default of the template variable of that name' },
        { value: 'env', label: 'Environment variable of the tools' },
      ],
    },
    {
      name: 'value',
      label: 'Value',
      isSecret: true,
      kind: keepsSecret ? 'password' : 'area',
      isOptional: keepsSecret,
      hint: keepsSecret
        ? 'It is stored, and never shown. Leave it empty to keep it.'
        : 'A default may be JSON, such as 3, true or ["a"]. Anything else is text.',
    },
    {
      name: 'has_plan_value',
      label: 'Planning gets another value',
      kind: 'checkbox',
      hint: 'For an environment variable, such as a credential that may only read.',
    },
    {
      name: 'plan_value',
      label: 'Value for planning',
      isSecret: true,
      kind: keepsSecret ? 'password' : 'area',
      isOptional: true,
      ...(keepsSecret && { hint: 'It is never shown. Leave it empty to keep the one that there is.' }),
    },
    { name: 'sensitive', label: 'It is a secret: nobody can read it again', kind: 'checkbox' },
    { name: 'plan', label: 'Give it while planning', kind: 'checkbox' },
    { name: 'apply', label: 'Give it while applying', kind: 'checkbox' },
    { name: 'expected_revision', label: 'Revision', kind: 'hidden' },
  ];
}

export async function confirmVariableRemoval(visit: VariableVisit): Promise<FastifyReply> {
  return showRemoval(visit, null);
}

async function showRemoval(visit: VariableVisit, problems: FormProblems | null): Promise<FastifyReply> {
  const { id, name } = visit.params;
  const { name: environment } = await visit.read(getEnvironment, { params: { id } });
  const page = confirmationPage({
    title: `Remove the variable ${name}`,
    crumbs: [
      { label: 'Environments', path: pagePath(pages.environments) },
      { label: environment, path: pagePath(pages.environment, { id }, { tab: 'variables' }) },
    ],
    consequences:
      'Runs that are admitted from now on do not get it. A secret value cannot be brought back. Runs that were admitted before keep what they were given.',
    verb: 'Remove',
    fields: [],
    action: pagePath(pages.deleteEnvironmentVariable, { id, name }),
    cancel: pagePath(pages.environmentVariable, { id, name }),
    problems,
  });
  return visit.show(page, problems?.status ?? 200);
}

export async function submitVariableRemoval(visit: VariableVisit): Promise<FastifyReply> {
  visit.form();
  const { id } = visit.params;
  const result = await submit(visit, [], () => visit.run(remove, { params: visit.params }));
  if (!result.done) return showRemoval(visit, result.problems);
  return visit.redirect(pagePath(pages.environment, { id }, { tab: 'variables', done: 'variable-removed' }));
}
