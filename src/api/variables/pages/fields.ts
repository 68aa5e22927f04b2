import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { describeJsonProblem, parseStrictJson } from '#domain/shared/values/strict-json.ts';

/** The body of a variable, from what was typed. An empty field keeps a secret that exists. */
export function toVariableBody(visit: Visit, typed: Typed, exists: boolean): Record<string, unknown> {
  const sensitive = isYes(typed['sensitive']);
  const phases = (['plan', 'apply'] as const).filter((phase) => isYes(typed[phase]));
  if (phases.length === 0) visit.addProblem('plan', 'choose at least one phase', 'phases');
  else if (typed['category'] === 'template' && phases.length < 2)
    visit.addProblem(
      phases.includes('plan') ? 'apply' : 'plan',
      'tick this too: a template variable is part of what is planned, so it is given in both phases',
      'phases',
    );
  const keepsValue = exists && sensitive && typed['value'] === '';
  return {
    category: typed['category'],
    sensitive,
    phases,
    ...(!keepsValue && { value: readValue(visit, 'value', typed) }),
    ...toPlanValue(visit, typed, exists),
  };
}

/**
 * Reads the value for planning. If its field is empty, an existing secret value stays. If its box is not checked, the value for planning is
 * removed. If a value was typed but the box is not checked, that is a problem: planning would get the other value, which may be the
 * stronger credential.
 */
function toPlanValue(visit: Visit, typed: Typed, exists: boolean): Record<string, unknown> {
  const { plan_value: value } = typed;
  const [isSecret, has] = [isYes(typed['sensitive']), isYes(typed['has_plan_value'])];
  const isTyped = value !== undefined && value !== '' && (!exists || isSecret);
  if (!has && isTyped)
    visit.addProblem('has_plan_value', 'tick this if planning gets the value below; else empty its field');
  if (!has) return { has_plan_value: false };
  if (typed['category'] === 'template') {
    visit.addProblem(
      'has_plan_value',
      'empty this: a template variable is part of what is planned, so it has one value',
      'plan_value',
    );
    return {};
  }
  const keepsValue = exists && isSecret && value === '';
  return { has_plan_value: true, ...(!keepsValue && { plan_value: readValue(visit, 'plan_value', typed) }) };
}

/** Reads the value in a field. Broken JSON is a problem of the field, because as a plain text it would fail only in a run. */
function readValue(visit: Visit, field: 'value' | 'plan_value', { category, [field]: text = '' }: Typed): JsonValue {
  if (category === 'env') return text;
  const read = readDefault(text);
  if ('value' in read) return read.value;
  visit.addProblem(
    field,
    `begins like JSON, but ${read.problem}: correct it, as in ["a", "b"], or write a text in quotes, as in "[a]"`,
  );
  return text;
}

/** Reads a template's default, which may be any JSON. Text that is not JSON is used as it is, unless it begins like a list or an object. */
function readDefault(text: string): { readonly value: JsonValue } | { readonly problem: string } {
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return /^\s*[[{]/.test(text) ? { problem: describeJsonProblem(parsed.problem) } : { value: text };
  const value = parsed.value as JsonValue;
  // A number that JSON would write differently stays text: a password such as 1.50 must keep all of its digits.
  return { value: typeof value === 'number' && String(value) !== text.trim() ? text : value };
}

/** The text of a field for a value. A string is quoted if the form would otherwise read it as something else. */
export function showValue(category: string, value: JsonValue): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (category === 'env') return value;
  const read = readDefault(value);
  return 'value' in read && read.value === value ? value : JSON.stringify(value);
}

/** The fields that only environment variables have. */
const fieldsOfTools = ['has_plan_value', 'plan_value', 'plan', 'apply'];

/** The fields for a variable of templates. It has only one value, which both phases get. */
export function withoutFieldsOfTools(fields: readonly FormField[]): FormField[] {
  return fields
    .filter(({ name }) => !['has_plan_value', 'plan_value'].includes(name))
    .map((field) =>
      fieldsOfTools.includes(field.name) ? { name: field.name, label: field.label, kind: 'hidden' as const } : field,
    );
}

/** The fields of a new or an existing variable. A secret that is kept is never filled in. */
export function variableFields(existing: string | undefined, keepsSecret: boolean): FormField[] {
  return [
    nameField(existing),
    {
      name: 'category',
      label: 'Type',
      kind: 'select',
      choices: [
        { value: 'template', label: 'Template variable: the default value' },
        { value: 'env', label: 'Environment variable' },
      ],
    },
    ...valueFields(keepsSecret),
    checkboxField('sensitive', 'Secret: the value cannot be read again'),
    checkboxField('plan', 'Available while planning', false, {
      hint: 'Anyone who may start a plan can have it print a secret that it gets. Give such an environment variable another value for planning, or make it available while applying only. A template variable is always available while planning and applying: a template can declare it as ephemeral.',
    }),
    checkboxField('apply', 'Available while applying'),
  ];
}

function nameField(existing: string | undefined): FormField {
  if (existing !== undefined) return { name: 'name', label: 'Name', kind: 'hidden' };
  const hint = 'As the template or the tool knows it, such as region or AWS_REGION.';
  return { name: 'name', label: 'Name', hint };
}

function valueFields(keepsSecret: boolean): FormField[] {
  const kind = keepsSecret ? 'password' : 'area';
  return [
    {
      name: 'value',
      label: 'Value',
      isSecret: true,
      kind,
      isOptional: keepsSecret,
      hint: keepsSecret
        ? 'The stored value is never shown. Leave this empty to keep it.'
        : 'A default may be JSON, such as 3, true or ["a"]. Anything else is text. A text that looks like JSON stands in quotes, such as "3".',
    },
    checkboxField('has_plan_value', 'Use another value while planning', false, {
      hint: 'For an environment variable, such as a credential that may only read.',
    }),
    {
      name: 'plan_value',
      label: 'Value while planning',
      isSecret: true,
      kind,
      isOptional: true,
      ...(keepsSecret && { hint: 'The stored value is never shown. Leave this empty to keep it.' }),
    },
  ];
}
