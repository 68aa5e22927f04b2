import type { z } from 'zod';
import { renderActions } from '#api/web/components/actions.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { isYes, yesIf } from '#api/web/forms/fields/yes.ts';
import { type FormPage, type FormPageDeclaration, formPage, type Typed } from '#api/web/forms/form-page.ts';
import { refusalOf, revisionField } from '#api/web/forms/resource-forms.ts';
import { type LocalPath, pagePath, type pages } from '#api/web/paths.ts';
import type { PageDeclaration } from '#api/web/visit/route.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import { NotFound } from '#domain/shared/errors.ts';
import type { VariableView } from '../views.ts';
import { showValue, toVariableBody, variableFields, withoutFieldsOfTools } from './fields.ts';

type ShownVariable = z.input<typeof VariableView> & { readonly actions: readonly Action[] };
type HolderVisit = Visit<{ id: string }>;

interface Holder {
  readonly id: string;
  readonly name: string;
}

/** The parameters of a variable's address, for commands. */
interface NamedVariable {
  readonly params: { readonly id: string; readonly name: string };
}

/** The forms that add, change and remove the variables of an environment or of a variable set. */
export interface VariableForms<H extends Holder> {
  readonly patterns: {
    readonly add: typeof pages.newEnvironmentVariable | typeof pages.newVariableOfSet;
    readonly change: typeof pages.environmentVariable | typeof pages.variableOfSet;
    readonly remove: typeof pages.deleteEnvironmentVariable | typeof pages.deleteVariableOfSet;
  };
  readonly readHolder: (visit: HolderVisit) => Promise<H>;
  readonly readVariable: (visit: HolderVisit, variable: NamedVariable) => Promise<ShownVariable>;
  readonly set: (visit: HolderVisit, variable: NamedVariable & { readonly body: object }) => Promise<unknown>;
  readonly remove: (visit: HolderVisit, variable: NamedVariable & { readonly revision?: number }) => Promise<unknown>;
  /** Why the visitor may not add a variable; null if they may. */
  readonly findRefusal: (holder: H) => string | null;
  readonly crumbs: (holder: H) => readonly Crumb[];
  /** The page that lists the variables. */
  readonly path: (holder: H, done?: 'variable' | 'variable-removed') => LocalPath;
}

/** Declares the forms. */
export function variableForms<H extends Holder>(forms: VariableForms<H>): PageDeclaration[] {
  return [
    formPage(forms.patterns.add, addForm(forms)),
    formPage(forms.patterns.change, changeForm(forms)),
    formPage(forms.patterns.remove, removeForm(forms)),
  ];
}

interface Subject<H> {
  readonly holder: H;
  readonly variable: ShownVariable;
}
type VariableFormPage<H> = FormPageDeclaration<{ id: string; name: string }, Subject<H>>;

function addForm<H extends Holder>(forms: VariableForms<H>): FormPageDeclaration<{ id: string }, H> {
  return {
    read: forms.readHolder,
    describe: (holder) => ({
      ...frameOf(forms, holder),
      title: 'Add a variable',
      refusal: forms.findRefusal(holder),
      fields: withValues(variableFields(undefined, false), {
        category: 'template',
        plan: yesIf(true),
        apply: yesIf(true),
      }),
    }),
    carryOut: async (holder, typed, visit) => {
      const params = { id: holder.id, name: typed['name']?.trim() ?? '' };
      const body = { ...toVariableBody(visit, typed, false), expected_revision: 0 };
      if (await exists(forms, visit, params))
        visit.addProblem('name', `the variable "${params.name}" already exists: change it, or choose another name`);
      // Somebody else may have added it meanwhile.
      await forms.set(visit, { params, body });
      return forms.path(holder, 'variable');
    },
  };
}

async function exists<H extends Holder>(
  { readVariable }: VariableForms<H>,
  visit: HolderVisit,
  params: NamedVariable['params'],
): Promise<boolean> {
  try {
    await readVariable(visit, { params });
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

function changeForm<H extends Holder>(forms: VariableForms<H>): VariableFormPage<H> {
  return {
    read: (visit) => readSubject(forms, visit),
    describe: ({ holder, variable }) => ({
      ...frameOf(forms, holder),
      title: `Variable ${variable.name}`,
      actions: renderActions(variable.actions, {
        remove: {
          label: 'Remove',
          tone: 'danger',
          path: pagePath(forms.patterns.remove, { id: holder.id, name: variable.name }),
        },
      }),
      refusal: refusalOf(variable.actions, 'set'),
      fields: fieldsOf(variable),
    }),
    carryOut: async ({ holder, variable: { name } }, typed, visit) => {
      await forms.set(visit, { params: { id: holder.id, name }, body: toVariableBody(visit, typed, true) });
      return forms.path(holder, 'variable');
    },
  };
}

function removeForm<H extends Holder>(forms: VariableForms<H>): VariableFormPage<H> {
  return {
    read: (visit) => readSubject(forms, visit),
    describe: ({ holder, variable: { name, actions, revision } }) => ({
      ...frameOf(forms, holder),
      title: `Remove the variable ${name}`,
      lead: 'New runs no longer get it. Existing runs keep it. A secret value cannot be restored.',
      fields: [{ ...revisionField({ revision }), isOptional: true }],
      submit: 'Remove',
      tone: 'danger',
      cancel: pagePath(forms.patterns.change, { id: holder.id, name }),
      refusal: refusalOf(actions, 'remove'),
    }),
    carryOut: async ({ holder, variable: { name } }, _typed, visit) => {
      await forms.remove(visit, { params: { id: holder.id, name } });
      return forms.path(holder, 'variable-removed');
    },
  };
}

async function readSubject<H extends Holder>(
  forms: VariableForms<H>,
  visit: Visit<{ id: string; name: string }>,
): Promise<Subject<H>> {
  const { params } = visit;
  const [holder, variable] = await Promise.all([forms.readHolder(visit), forms.readVariable(visit, { params })]);
  return { holder, variable };
}

function frameOf<H extends Holder>(
  { crumbs, path }: VariableForms<H>,
  holder: H,
): Pick<FormPage, 'crumbs' | 'submit' | 'cancel' | 'forgets'> {
  return { crumbs: crumbs(holder), submit: 'Save', cancel: path(holder), forgets: secretFields };
}

/** The fields that a refused form must not show again, because they are secret. */
function secretFields({ sensitive }: Typed): readonly string[] {
  return isYes(sensitive) ? ['value', 'plan_value'] : [];
}

function fieldsOf(variable: ShownVariable): FormField[] {
  const { name, category, sensitive, phases, value, plan_value: planValue, has_plan_value: hasPlanValue } = variable;
  const values = {
    name,
    category,
    value: sensitive ? '' : showValue(category, value),
    has_plan_value: yesIf(hasPlanValue),
    plan_value: planValue === null ? '' : showValue(category, planValue),
    sensitive: yesIf(sensitive),
    plan: yesIf(phases.includes('plan')),
    apply: yesIf(phases.includes('apply')),
  };
  const fields = variableFields(name, sensitive);
  // A change of the category is saved first. Then the form has the fields of the new category.
  const shown = category === 'template' ? withoutFieldsOfTools(fields) : fields;
  return [...withValues(shown, values), { ...revisionField(variable), isOptional: true }];
}

function withValues(fields: readonly FormField[], values: Readonly<Record<string, string>>): FormField[] {
  return fields.map((field) => ({ ...field, value: values[field.name] }));
}
