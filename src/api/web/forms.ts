import { Invalid } from '#domain/shared/errors.ts';
import { type Html, html } from './html.ts';

/** A form's fields as they were submitted: each at most once, none that the form does not have, empty where left out. */
export function readForm<Name extends string>(body: unknown, names: readonly Name[]): Record<Name, string> {
  const given = new Map(Object.entries(body ?? {}));
  const foreign = [...given.keys()].find((name) => !(names as readonly string[]).includes(name));
  if (foreign !== undefined) throw new Invalid(`the form has no field ${JSON.stringify(foreign)}`);
  const fields = names.map((name) => {
    const value = given.get(name) ?? '';
    if (typeof value !== 'string') throw new Invalid(`the field "${name}" was sent more than once`);
    return [name, value];
  });
  return Object.fromEntries(fields);
}

/** What is wrong with each field of the body, by its name, where that is all that is wrong; else undefined. */
export function fieldProblems(error: unknown, names: readonly string[]): Record<string, string> | undefined {
  if (!(error instanceof Invalid)) return undefined;
  const problems = error.details?.['errors'];
  if (!Array.isArray(problems) || problems.length === 0) return undefined;
  if (!problems.every(({ in: part, path }) => part === 'body' && names.includes(path))) return undefined;
  return Object.fromEntries(problems.map(({ path, message }) => [path, message]));
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'email' | 'password';
  readonly autocomplete: string;
  readonly value?: string;
  readonly maxLength: number;
  /** What is wrong with it, in a sentence. */
  readonly problem?: string | undefined;
  /** The id of what else describes it. */
  readonly describedBy?: string | undefined;
  /** Where typing goes when the page opens; one field of a page. */
  readonly isFirst?: boolean;
}

/** A required field with its label above and what is wrong with it below. */
export function renderField(field: Field): Html {
  const { name, label, type, autocomplete, value, maxLength, problem, describedBy, isFirst } = field;
  const problemId = `${name}-problem`;
  const describing = [problem && problemId, describedBy].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${maxLength}" required
  autocapitalize="none" spellcheck="false"
  ${value ? html`value="${value}"` : null} ${problem ? html`aria-invalid="true"` : null}
  ${describing ? html`aria-describedby="${describing}"` : null} ${isFirst ? html`autofocus` : null}>
${problem ? html`<p class="field-problem" id="${problemId}">${problemShape}${problem}</p>` : null}
</div>`;
}

/** Says what went wrong with what was sent, aloud. */
export function renderAlert(id: string, text: string): Html {
  return html`<p class="notice notice-problem" id="${id}" role="alert">${problemShape}<span>${text}</span></p>`;
}

/** Says what has happened, quietly. */
export function renderStatus(text: string): Html {
  return html`<p class="notice" role="status">${text}</p>`;
}

const problemShape = html`<svg class="shape" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="M8.3 3h7.4L21 8.3v7.4L15.7 21H8.3L3 15.7V8.3z"/><path d="m9.2 9.2 5.6 5.6m0-5.6-5.6 5.6"/></svg>`;
