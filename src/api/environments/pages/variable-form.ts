import { type ActionButton, renderActions } from '#api/web/components/actions.ts';
import type { FormField } from '#api/web/forms/form.ts';
import { addFormPage, type FormPage, type Typed } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import type { NewsOf } from '#api/web/news.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { get as getEnvironment } from '../operations.ts';
import { get, remove, set } from '../variable-operations.ts';
import { toVariableBody, variableFields } from './variable-fields.ts';
import type { Environment } from './words.ts';

/** Adds the forms that set and remove the variables of an environment. */
export function registerVariableForms(addPage: AddPage): void {
  addFormPage(addPage, pages.newEnvironmentVariable, {
    read: readEnvironment,
    describe: (environment) => ({
      ...frameOf(environment),
      title: 'Add a variable',
      refusal: refusalOf(environment.actions, 'update'),
      fields: withValues(variableFields(undefined, false), { category: 'template', plan: 'yes', apply: 'yes' }),
    }),
    carryOut: async ({ id }, typed, visit) => {
      const name = typed['name']?.trim() ?? '';
      await visit.run(set, { params: { id, name }, body: toVariableBody(typed, false) });
      return variablesPath(id, 'variable');
    },
  });
  addFormPage(addPage, pages.environmentVariable, {
    read: readVariable,
    describe: ({ environment, variable }) => ({
      ...frameOf(environment),
      title: `Variable ${variable.name}`,
      actions: renderActions(variable.actions, { remove: removeButton(environment, variable) }),
      refusal: refusalOf(variable.actions, 'set'),
      fields: fieldsOf(variable),
    }),
    carryOut: async ({ environment: { id }, variable: { name } }, typed, visit) => {
      await visit.run(set, { params: { id, name }, body: toVariableBody(typed, true) });
      return variablesPath(id, 'variable');
    },
  });
  addFormPage(addPage, pages.deleteEnvironmentVariable, {
    read: readVariable,
    describe: ({ environment, variable: { name, actions } }) => ({
      ...frameOf(environment),
      title: `Remove the variable ${name}`,
      lead: 'Runs that are admitted from now on do not get it. A secret value cannot be brought back. Runs that were admitted before keep what they were given.',
      fields: [],
      submit: 'Remove',
      tone: 'danger',
      cancel: pagePath(pages.environmentVariable, { id: environment.id, name }),
      refusal: refusalOf(actions, 'remove'),
    }),
    carryOut: async ({ environment: { id }, variable: { name } }, _typed, visit) => {
      await visit.run(remove, { params: { id, name } });
      return variablesPath(id, 'variable-removed');
    },
  });
}

type VariableVisit = Visit<{ id: string; name: string }>;
type Variable = Awaited<ReturnType<typeof readVariable>>['variable'];

function removeButton({ id }: Environment, { name }: Variable): ActionButton {
  return { label: 'Remove', tone: 'danger', path: pagePath(pages.deleteEnvironmentVariable, { id, name }) };
}

function readEnvironment(visit: Visit<{ id: string }>): Promise<Environment> {
  return visit.read(getEnvironment, { params: { id: visit.params.id } });
}

async function readVariable(visit: VariableVisit) {
  const [environment, variable] = await Promise.all([
    readEnvironment(visit),
    visit.read(get, { params: visit.params }),
  ]);
  return { environment, variable };
}

function variablesPath(id: string, done?: NewsOf<typeof pages.environment>) {
  return pagePath(pages.environment, { id }, { tab: 'variables', ...(done !== undefined && { done }) });
}

function frameOf({ id, name }: Environment): Pick<FormPage, 'crumbs' | 'submit' | 'cancel' | 'forgets'> {
  return {
    crumbs: [
      { label: 'Environments', path: pagePath(pages.environments) },
      { label: name, path: variablesPath(id) },
    ],
    submit: 'Save',
    cancel: variablesPath(id),
    forgets: secretFields,
  };
}

/** A page never shows a secret, not even in a form that was refused. */
function secretFields({ sensitive }: Typed): readonly string[] {
  return sensitive === 'yes' ? ['value', 'plan_value'] : [];
}

function fieldsOf(variable: Variable): FormField[] {
  const { name, category, sensitive, phases, value, plan_value: planValue, has_plan_value: hasPlanValue } = variable;
  const show = (shown: JsonValue) => (typeof shown === 'string' ? shown : JSON.stringify(shown));
  const values = {
    name,
    category,
    value: sensitive ? '' : show(value),
    has_plan_value: hasPlanValue ? 'yes' : '',
    plan_value: planValue === null ? '' : show(planValue),
    sensitive: sensitive ? 'yes' : '',
    plan: phases.includes('plan') ? 'yes' : '',
    apply: phases.includes('apply') ? 'yes' : '',
  };
  return [...withValues(variableFields(name, sensitive), values), revisionField(variable)];
}

function withValues(fields: readonly FormField[], values: Readonly<Record<string, string>>): FormField[] {
  return fields.map((field) => ({ ...field, value: values[field.name] }));
}
