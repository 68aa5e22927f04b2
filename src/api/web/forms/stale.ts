import { createHash } from 'node:crypto';
import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';
import type { FormField } from './fields/form-field.ts';
import type { FormProblems } from './problems.ts';
import { toLines } from './read-form.ts';

/** What is compared of a field of a form. */
interface ComparedField {
  readonly name: string;
  readonly kind?: string;
  /** The present value. */
  readonly value?: string | undefined;
  readonly isSecret?: boolean;
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

const maxShown = 300;

/** The hidden field that says for which revision a form was opened. */
export const revisionName = 'expected_revision';

/** The hidden field that says which values a form was opened with. */
export const openedName = 'opened_with';

/** Digests of the present values, by field, for a form that knows its revision. So a form that is out of date can tell what its reader has changed. */
export function openedField(fields: readonly ComparedField[]): FormField[] {
  if (!fields.some(({ name }) => name === revisionName)) return [];
  const compared = fields.filter((field) => field.kind !== 'hidden' && isShown(field));
  const digests = Object.fromEntries(compared.map(({ name, value = '' }) => [name, digestOf(value)]));
  return [{ name: openedName, label: 'Opened with', kind: 'hidden', value: JSON.stringify(digests) }];
}

/** What was typed, but with the present value of each field that has the value with which the form was opened. */
export function withPresentValues(
  fields: readonly ComparedField[],
  typed: Readonly<Record<string, string>>,
  opened: string,
): Readonly<Record<string, string>> {
  const digests = readDigests(opened);
  const untouched = fields.filter(
    (field) => field.kind !== 'hidden' && isShown(field) && digests[field.name] === digestOf(typed[field.name] ?? ''),
  );
  return { ...typed, ...Object.fromEntries(untouched.map(({ name, value = '' }) => [name, value])) };
}

/** Nothing is known of a form that sends no digests, or something else in their place. */
function readDigests(opened: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(opened) as object | null) };
  } catch {
    return {};
  }
}

function digestOf(value: string): string {
  return createHash('sha256').update(toLines(value)).digest('base64url').slice(0, 12);
}

/** Whether somebody else changed the thing since the form was opened. The form must know the present revision to be saved again. */
export function isStale(problems: FormProblems | null | undefined, fields: readonly ComparedField[]): boolean {
  if (problems?.code !== 'stale_revision') return false;
  return fields.some(({ name, value }) => name === revisionName && value !== undefined);
}

/** How a form speaks of its fields. */
interface StaleForm<Field> {
  readonly renderLink: (field: Field) => Html | string;
  /** Where the form is opened again. */
  readonly path: LocalPath;
  /** It has values that are no fields of it, such as those of a schema. */
  readonly hasOtherValues: boolean;
}

/**
 * Says what others have changed: where the present value of a field is not what was typed. The form then has the present revision, so
 * saving it again replaces what the reader has seen here. Of values that it cannot compare, it says that they may be others now.
 */
export function renderStale<Field extends ComparedField>(
  fields: readonly Field[],
  typed: Readonly<Record<string, string>>,
  { renderLink, path, hasOtherValues }: StaleForm<Field>,
): Html {
  const visible = fields.filter(({ kind }) => kind !== 'hidden');
  const changed = visible.filter((field) => isShown(field) && !isSame(field.value ?? '', typed[field.name] ?? ''));
  const unknown = hasOtherValues || visible.some((field) => !isShown(field));
  return html`<div class="notice notice-problem" role="alert" tabindex="-1" data-focus>${renderIcon('octagon-x')}<div>
<p>Another person changed this after you opened the form. Nothing was saved. Fields that you did not change show the current values.</p>
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

/** What was typed has LF alone; a present value that came by the API may have CRLF. */
function isSame(present: string, typed: string): boolean {
  return toLines(present) === typed;
}

/** Secrets have no value to show, and files have no present value. A field that may hold a secret and has a value holds none. */
function isShown({ kind, isSecret, value }: ComparedField): boolean {
  return (!isSecret || Boolean(value)) && !['password', 'files', 'folder'].includes(kind ?? 'text');
}

function describeValue({ kind, value = '', choices = [] }: ComparedField): string {
  if (kind === 'checkbox') return value === 'yes' ? 'on' : 'off';
  const chosen = choices.find((choice) => choice.value === value)?.label;
  if (chosen !== undefined) return chosen;
  if (value.trim() === '') return 'empty';
  return value.length > maxShown ? `${value.slice(0, maxShown)} …` : value;
}
