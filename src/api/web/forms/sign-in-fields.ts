import { problemIcon } from '../components/alerts.ts';
import { type Html, html } from '../html.ts';
import { yesIf } from './fields/yes.ts';
import { nameMissing } from './problems.ts';

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'email' | 'password';
  readonly autocomplete: string;
  readonly value?: string;
  /** The problem with the submitted value, as a sentence. */
  readonly problem?: string | undefined;
  /** The id of another element that describes the field. */
  readonly describedBy?: string | undefined;
  /** The field has the focus when the page opens. At most one field of a page. */
  readonly isFirst?: boolean;
}

/** A required field, with its label above it and its problem below it. */
export function renderField(field: Field): Html {
  const { name, label, type, autocomplete, value, problem, describedBy, isFirst } = field;
  const problemId = `${name}-problem`;
  const describedByIds = [problem && problemId, describedBy].filter(Boolean).join(' ');
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required
  autocapitalize="none" spellcheck="false"
  ${value ? html`value="${value}"` : null} ${problem ? html`aria-invalid="true"` : null}
  ${describedByIds ? html`aria-describedby="${describedByIds}"` : null} ${isFirst ? html`autofocus` : null}>
${problem ? html`<p class="field-problem" id="${problemId}">${problemIcon}${nameMissing(problem, { label })}</p>` : null}
</div>`;
}

/** A checkbox, which `isYes` reads. */
export function renderCheckbox({ name, label }: { readonly name: string; readonly label: string }): Html {
  return html`<label class="choice"><input type="checkbox" name="${name}" value="${yesIf(true)}"> <span>${label}</span></label>`;
}
