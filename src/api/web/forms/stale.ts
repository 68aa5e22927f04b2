import { createHash } from 'node:crypto';
import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';
import { type FormField, sentValue } from './fields/form-field.ts';
import { sentBoxes } from './fields/matrix.ts';
import type { FormProblems } from './problems.ts';
import { toLines } from './read-form.ts';

/** What is compared of a field of a form. */
type ComparedField = Pick<FormField, 'name' | 'kind' | 'value' | 'isSecret' | 'isCut' | 'choices' | 'matrix'>;

const maxShown = 300;

/** The hidden field that says for which revision a form was opened. */
export const revisionName = 'expected_revision';

/** The hidden field that says which values a form was opened with. */
export const openedName = 'opened_with';

/** Digests of the present values, by field, for a form that knows its revision. So a form that is out of date can tell what its reader has changed. */
export function openedField(fields: readonly ComparedField[]): FormField[] {
  if (!knowsRevision(fields)) return [];
  const digests = Object.fromEntries(sentValues(fields).map(([name, value]) => [name, digestOf(value)]));
  // Another person changes the digests by saving: that is no reason to forget what was typed into the form.
  return [{ name: openedName, label: 'Opened with', kind: 'hidden', value: JSON.stringify(digests), isUnkept: true }];
}

/** What was typed, but with the present value of each field that has the value with which the form was opened. */
export function withPresentValues(
  fields: readonly ComparedField[],
  typed: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const digests = readDigests(typed);
  const untouched = sentValues(fields).filter(([name]) => digests[name] === digestOf(typed[name] ?? ''));
  return { ...typed, ...Object.fromEntries(untouched) };
}

/** What the form sends for the present values, if nobody changes them. */
function sentValues(fields: readonly ComparedField[]): (readonly [name: string, value: string])[] {
  return fields.flatMap((field) => {
    if (field.matrix) return sentBoxes(field.matrix);
    return isCompared(field) ? [[field.name, sentValue(field)] as const] : [];
  });
}

/** Nothing is known of a form that sends no digests, or something else in their place. */
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

/** Whether another person changed the thing since the form was opened. The form must know the present revision to be saved again. */
export function isStale(problems: FormProblems | null | undefined, fields: readonly ComparedField[]): boolean {
  return problems?.code === 'stale_revision' && knowsRevision(fields);
}

function knowsRevision(fields: readonly ComparedField[]): boolean {
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

/** What was typed has LF alone; a present value that came by the API may have CRLF. */
function isSame(present: string, typed: string): boolean {
  return toLines(present) === typed;
}

/** A hidden field is none of the reader's. Secrets have no value to show, and files have no present value. A field that may hold a secret and has a value holds none. */
function isCompared({ kind = 'text', isSecret, value }: ComparedField): boolean {
  return (!isSecret || Boolean(value)) && !['hidden', 'password', 'files', 'folder', 'matrix'].includes(kind);
}

function describeValue({ kind, value = '', choices = [] }: ComparedField): string {
  if (kind === 'checkbox') return value === 'yes' ? 'on' : 'off';
  const chosen = choices.find((choice) => choice.value === value)?.label;
  if (chosen !== undefined) return chosen;
  if (value.trim() === '') return 'empty';
  return value.length > maxShown ? `${value.slice(0, maxShown)} …` : value;
}
