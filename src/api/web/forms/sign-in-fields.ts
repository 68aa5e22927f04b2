import { type Html, html } from '../html.ts';

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'email' | 'password';
  readonly autocomplete: string;
  readonly value?: string;
  readonly maxLength: number;
  /** The problem with the submitted value, as a sentence. */
  readonly problem?: string | undefined;
  /** The id of another element that describes the field. */
  readonly describedBy?: string | undefined;
  /** The field has the focus when the page opens. At most one field of a page. */
  readonly isFirst?: boolean;
}

/** A required field, with its label above it and its problem below it. */
export function renderField(field: Field): Html {
  const { name, label, type, autocomplete, value, maxLength, problem, describedBy, isFirst } = field;
  const problemId = `${name}-problem`;
  const describedByIds = [problem && problemId, describedBy].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${maxLength}" required
  autocapitalize="none" spellcheck="false"
  ${value ? html`value="${value}"` : null} ${problem ? html`aria-invalid="true"` : null}
  ${describedByIds ? html`aria-describedby="${describedByIds}"` : null} ${isFirst ? html`autofocus` : null}>
${problem ? html`<p class="field-problem" id="${problemId}">${problemIcon}${problem}</p>` : null}
</div>`;
}

/** A choice that the form sends as `yes`; left out where it is not chosen. */
export function renderCheckbox({ name, label }: { readonly name: string; readonly label: string }): Html {
  return html`<label class="choice"><input type="checkbox" name="${name}" value="yes"> <span>${label}</span></label>`;
}

/** A problem with the submitted form. Screen readers announce it at once. */
export function renderAlert(id: string, text: string): Html {
  return html`<p class="notice notice-problem" id="${id}" role="alert">${problemIcon}<span>${text}</span></p>`;
}

/** The result of the last action. Screen readers announce it politely. */
export function renderStatus(text: string): Html {
  return html`<p class="notice" role="status">${text}</p>`;
}

const problemIcon = html`<svg class="shape" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="M8.3 3h7.4L21 8.3v7.4L15.7 21H8.3L3 15.7V8.3z"/><path d="m9.2 9.2 5.6 5.6m0-5.6-5.6 5.6"/></svg>`;
