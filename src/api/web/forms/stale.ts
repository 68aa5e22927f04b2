import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import type { FormProblems } from './problems.ts';

/** What is compared of a field of a form. */
interface ComparedField {
  readonly name: string;
  readonly kind?: string;
  /** The present value. */
  readonly value?: string | undefined;
  readonly isSecret?: boolean;
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

const mostShown = 300;

/** The hidden field that says for which revision a form was opened. */
export const revisionName = 'expected_revision';

/** Whether somebody else changed the thing since the form was opened. The form must know the present revision to be saved again. */
export function isStale(problems: FormProblems | null | undefined, fields: readonly ComparedField[]): boolean {
  if (problems?.code !== 'stale_revision') return false;
  return fields.some(({ name, value }) => name === revisionName && value !== undefined);
}

/**
 * Says what others have changed: where the present value of a field is not what was typed. The form then has the present revision, so
 * saving it again replaces what the reader has seen here.
 */
export function renderStale<Field extends ComparedField>(
  fields: readonly Field[],
  typed: Readonly<Record<string, string>>,
  renderLink: (field: Field) => Html | string,
): Html {
  const changed = fields.filter((field) => isShown(field) && !isSame(field.value ?? '', typed[field.name] ?? ''));
  return html`<div class="notice notice-problem" role="alert" tabindex="-1" data-focus>${renderIcon('octagon-x')}<div>
<p>Somebody has changed this since you opened the form. Nothing was saved.</p>
${
  changed.length === 0
    ? html`<p>What you typed is what it is now.</p>`
    : html`<p>Save again to replace what differs from your form now:</p>
<ul class="plain-list">${changed.map(
        (field) => html`<li>${renderLink(field)}: <span class="foreign">${describeValue(field)}</span></li>`,
      )}</ul>`
}</div></div>`;
}

/** Browsers send line breaks as CRLF. */
function isSame(present: string, typed: string): boolean {
  return present === typed.replaceAll('\r\n', '\n');
}

/** Secrets are never shown, and files have no present value. */
function isShown({ kind, isSecret }: ComparedField): boolean {
  return !isSecret && !['hidden', 'password', 'files', 'folder'].includes(kind ?? 'text');
}

function describeValue({ kind, value = '', choices = [] }: ComparedField): string {
  if (kind === 'checkbox') return value === 'yes' ? 'on' : 'off';
  const chosen = choices.find((choice) => choice.value === value)?.label;
  if (chosen !== undefined) return chosen;
  if (value.trim() === '') return 'empty';
  return value.length > mostShown ? `${value.slice(0, mostShown)} …` : value;
}
