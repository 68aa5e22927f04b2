import { createHash } from 'node:crypto';
import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';
import { type FormField, sentValue } from './fields/form-field.ts';
import { sentBoxes } from './fields/matrix.ts';
import { isYes } from './fields/yes.ts';
import type { FormProblems } from './problems.ts';
import { revisionName, toLines } from './read-form.ts';

/** The facts of a form's field that the comparison needs. */
type ComparedField = Pick<FormField, 'name' | 'kind' | 'value' | 'isSecret' | 'isCut' | 'choices' | 'matrix'>;

const maxShown = 300;

/** The hidden field with digests of the values with which a form was opened. */
export const openedName = 'opened_with';

/**
 * Digests of the current values, by field, for a form that knows its revision. With them, an outdated form can tell which fields its reader
 * has changed.
 */
export function openedField(fields: readonly ComparedField[]): FormField[] {
  if (!knowsRevision(fields)) return [];
  const digests = Object.fromEntries(sentValues(fields).map(([name, value]) => [name, digestOf(value)]));
  // When another person saves, the digests change. The browser must not take that for another form and forget what was typed.
  return [{ name: openedName, label: 'Opened with', kind: 'hidden', value: JSON.stringify(digests), isUnkept: true }];
}

/** Replaces the value of each field that the reader has not changed by its current value. */
export function withPresentValues(
  fields: readonly ComparedField[],
  typed: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const digests = readDigests(typed);
  const untouched = sentValues(fields).filter(([name]) => digests[name] === digestOf(typed[name] ?? ''));
  return { ...typed, ...Object.fromEntries(untouched) };
}

/** The values that the form sends if nobody changes them. */
function sentValues(fields: readonly ComparedField[]): (readonly [name: string, value: string])[] {
  return fields.flatMap((field) => {
    if (field.matrix) return sentBoxes(field.matrix);
    return isCompared(field) ? [[field.name, sentValue(field)] as const] : [];
  });
}

/** The digests that a form sent; empty if it sent none, or something else. */
function readDigests({ [openedName]: opened }: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(opened ?? '{}') as object | null) };
  } catch {
    return {};
  }
}

function digestOf(value: string): string {
  return createHash('sha256').update(toLines(value)).digest('base64url').slice(0, 12);
}

/**
 * Whether another person changed the thing since the form was opened. The form can be saved again only if it knows the current revision.
 */
export function isStale(problems: FormProblems | null | undefined, fields: readonly ComparedField[]): boolean {
  return problems?.code === 'stale_revision' && knowsRevision(fields);
}

function knowsRevision(fields: readonly ComparedField[]): boolean {
  return fields.some(({ name, value }) => name === revisionName && value !== undefined);
}

/** How a form refers to its fields. */
interface StaleForm<Field> {
  readonly renderLink: (field: Field) => Html | string;
  /** The address that opens the form again. */
  readonly path: LocalPath;
  /** The form has values without fields here, such as those of a schema. */
  readonly hasOtherValues: boolean;
}

/**
 * Lists the fields whose current value differs from what was typed. The form then has the current revision, so saving it again replaces the
 * values that the reader has seen here. For values that it cannot compare, it says that they may have changed.
 */
export function renderStale<Field extends ComparedField>(
  fields: readonly Field[],
  typed: Readonly<Record<string, string>>,
  { renderLink, path, hasOtherValues }: StaleForm<Field>,
): Html {
  const visible = fields.filter(({ kind }) => kind !== 'hidden');
  const changed = visible.filter((field) => isCompared(field) && !isSame(sentValue(field), typed[field.name] ?? ''));
  const unknown = hasOtherValues || visible.some((field) => !isCompared(field));
  const isMerged = !hasOtherValues && Object.keys(readDigests(typed)).length > 0;
  return html`<div class="notice notice-problem" role="alert" tabindex="-1" data-focus>${renderIcon('octagon-x')}<div>
<p>Another person changed this after you opened the form, or you did in another tab. Nothing was saved.${isMerged && ' Fields that you did not change show the current values.'}</p>
${
  changed.length > 0 &&
  html`<p>Save again to replace these current values:</p>
<ul class="plain-list">${changed.map(
    (field) => html`<li>${renderLink(field)}: <span class="foreign">${describeValue(field)}</span></li>`,
  )}</ul>`
}
${
  unknown
    ? html`<p>Other values may have changed as well. <a href="${path}">Open the form again</a> to see the current values, or save again to replace them.</p>`
    : changed.length === 0 && html`<p>The current values are the same as yours.</p>`
}</div></div>`;
}

/** Compares a current value, which may have CRLF if it came through the API, with what was typed, which has only LF. */
function isSame(present: string, typed: string): boolean {
  return toLines(present) === typed;
}

/**
 * Whether a field's values are compared. The reader does not see hidden fields, secrets have no value to show, and files have no current
 * value. A field that may contain a secret is compared if it has a value, because a secret would not be shown.
 */
function isCompared({ kind = 'text', isSecret, value }: ComparedField): boolean {
  return (!isSecret || Boolean(value)) && !['hidden', 'password', 'files', 'folder', 'matrix'].includes(kind);
}

function describeValue({ kind, value = '', choices = [] }: ComparedField): string {
  if (kind === 'checkbox') return isYes(value) ? 'on' : 'off';
  const chosen = choices.find((choice) => choice.value === value)?.label;
  if (chosen !== undefined) return chosen;
  if (value.trim() === '') return 'empty';
  return value.length > maxShown ? `${value.slice(0, maxShown)} …` : value;
}
