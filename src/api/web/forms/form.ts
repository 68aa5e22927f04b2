import { newId } from '#domain/shared/ids.ts';
import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import { renderLinkedText } from '../linked-text.ts';
import type { LocalPath } from '../paths.ts';
import { type Choice, explainCut } from './choices.ts';
import { type Matrix, renderMatrix } from './matrix.ts';
import type { FormProblems } from './problems.ts';
import { isStale, renderStale, revisionName } from './stale.ts';

export interface FormField {
  /** The field begins a section of the form, which has this heading and says what its fields are about. */
  readonly section?: { readonly title: string; readonly help: string };
  /** The path of the value in the operation's body, such as `approval_policy.required`. */
  readonly name: string;
  readonly label: string;
  readonly kind?:
    | 'text'
    | 'email'
    | 'password'
    | 'number'
    | 'area'
    | 'code'
    | 'select'
    | 'radio'
    | 'checkbox'
    | 'hidden'
    | 'date'
    | 'datetime'
    | 'files'
    | 'folder'
    | 'matrix';
  /** What the value means, or how it should look. */
  readonly hint?: Html | string;
  readonly value?: string | undefined;
  readonly isOptional?: boolean;
  /** The value may be a secret: the browser keeps no copy of it. */
  readonly isSecret?: boolean;
  readonly choices?: readonly Choice[];
  /** A select has more choices than these. It then takes the id of another, too. */
  readonly isCut?: boolean;
  /** Of the kind `matrix`. */
  readonly matrix?: Matrix;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly autocomplete?: string;
  /** The name of the form, if the page has several. `renderForm` sets it. */
  readonly form?: string | undefined;
}

export interface Form {
  /** Keeps its fields apart from those of other forms of the page. */
  readonly name?: string;
  readonly action: LocalPath;
  readonly fields: readonly (FormField | Html)[];
  /** The label of the button, or the buttons themselves where a form has several. */
  readonly submit: string | Html;
  readonly tone?: 'primary' | 'danger';
  /** Where a visitor goes who changes their mind. */
  readonly cancel?: LocalPath;
  /** What the link says that leads there; "Cancel" unless given. */
  readonly cancelLabel?: string;
  readonly problems?: FormProblems | null;
  /** Buttons inside the form show it again with a change, and a script sends what they need. Enter still sends the form. */
  readonly hasEdits?: boolean;
  /** What was typed before, by the field's name. It wins over the values of fields. */
  readonly typed?: Readonly<Record<string, string>>;
  /** The form sends files, to a route that takes them. */
  readonly hasFiles?: boolean;
}

/**
 * A form. Its problems stand at their fields, and in a summary that links to them. What was typed is kept, except for passwords. Required
 * fields are checked by the service, which says more than the browser does.
 */
export function renderForm(form: Form): Html {
  const {
    name,
    action,
    fields,
    submit,
    tone = 'primary',
    cancel,
    cancelLabel = 'Cancel',
    problems,
    typed = {},
    hasFiles,
    hasEdits,
  } = form;
  const plain = fields.filter(isField);
  const stale = isStale(problems, plain);
  return html`<form class="form" method="post" action="${action}" ${hasFiles ? html`enctype="multipart/form-data"` : null} novalidate ${hasEdits ? html`data-edited` : null}>
${hasEdits ? html`<button class="unseen" type="submit" tabindex="-1" aria-hidden="true">Send</button>` : null}
${problems ? (stale ? renderStale(plain, typed, (field) => renderFieldLink(field, name)) : renderSummary(problems, plain, name)) : null}
${plain.some(holdsSecret) ? null : renderKey()}
${fields.map((field) => (isField(field) ? html`${renderSection(field)}${renderFormField({ ...withState(field, typed, stale), form: name }, problems?.fields[field.name], typed)}` : field))}
<div class="form-end">${typeof submit === 'string' ? html`<button class="button button-${tone}" type="submit">${submit}</button>` : submit}${
    cancel ? html`<a class="button button-plain" href="${cancel}">${cancelLabel}</a>` : null
  }</div>
</form>`;
}

function renderSection({ section }: FormField): Html | null {
  return section
    ? html`<div class="form-section"><h2>${section.title}</h2><p class="muted">${section.help}</p></div>`
    : null;
}

/** The idempotency key of a form, so that sending it twice does the work once. Every form has one, unless it sends a secret. */
export function renderKey(): Html {
  return html`<input type="hidden" name="key" value="${newId()}">`;
}

/** No receipt is kept of a secret, so these forms do no harm when they are sent twice. */
function holdsSecret({ kind, isSecret }: FormField): boolean {
  return kind === 'password' || isSecret === true;
}

function isField(field: FormField | Html): field is FormField {
  return typeof field === 'object' && 'label' in field;
}

function withState(field: FormField, typed: Readonly<Record<string, string>>, stale: boolean): FormField {
  if (stale && field.name === revisionName) return field;
  const value = field.kind === 'password' ? undefined : (typed[field.name] ?? field.value);
  return { ...field, value };
}

/** The problems of a form, with links to their fields. It gets the focus when the page opens. */
export function renderSummary(
  { fields, others, listed = [] }: FormProblems,
  known: readonly FormField[],
  form?: string,
): Html {
  const named = Object.entries(fields).map(([name, text]) => ({
    text,
    field: known.find((each) => each.name === name) ?? { name, label: name },
  }));
  return html`<div class="notice notice-problem" role="alert" tabindex="-1" data-focus>${renderIcon('octagon-x')}<div>
${others.map((text) => html`<p>${renderLinkedText(text)}</p>`)}
${
  named.length + listed.length > 0
    ? html`<ul class="plain-list">${named.map(({ field, text }) => html`<li>${renderFieldLink(field, form)}: ${renderLinkedText(text)}</li>`)}${listed.map(({ target, label, message }) => html`<li class="foreign"><a href="#${target}">${label}</a>: ${message}</li>`)}</ul>`
    : null
}</div></div>`;
}

/** Nobody can go to a hidden field. */
function renderFieldLink({ name, label, kind }: FormField, form: string | undefined): Html | string {
  return kind === 'hidden' ? label : html`<a href="#${fieldId(name, form)}">${label}</a>`;
}

/** The id of a field's control. `form` names its form, if the page has several. */
export function fieldId(name: string, form?: string): string {
  return `field-${form === undefined ? '' : `${form}-`}${name.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`;
}

export function renderFormField(
  field: FormField,
  problem?: string | undefined,
  typed: Readonly<Record<string, string>> = {},
): Html {
  const { name, label, kind = 'text', value, isOptional } = field;
  const hint = hintOf(field);
  const id = fieldId(name, field.form);
  if (kind === 'hidden') return html`<input type="hidden" name="${name}" value="${value ?? ''}">`;
  if (field.matrix) return renderMatrix(field.matrix, { id, label, typed });
  const described = [hint ? `${id}-hint` : null, problem ? `${id}-problem` : null].filter(Boolean).join(' ');
  const state = html`${described ? html`aria-describedby="${described}"` : null} ${problem ? html`aria-invalid="true"` : null}`;
  const notes = html`${hint ? html`<p class="field-hint" id="${id}-hint">${hint}</p>` : null}${
    problem
      ? html`<p class="field-problem" id="${id}-problem">${renderIcon('octagon-x')}<span>${renderLinkedText(problem)}</span></p>`
      : null
  }`;
  if (kind === 'checkbox') {
    return html`<div class="field"><label class="choice"><input type="checkbox" id="${id}" name="${name}" value="yes" ${
      value === 'yes' ? html`checked` : null
    } ${state}> <span>${label}</span></label>${notes}</div>`;
  }
  if (kind === 'radio') return renderRadios(field, id, state, notes);
  return html`<div class="field"><label for="${id}">${label}${isOptional ? html` <span class="muted">optional</span>` : null}</label>
${renderControl(field, id, state)}${notes}</div>`;
}

/** Choices that are all seen at once, each with what it means. The first one has the id, so that a summary can link to it. */
function renderRadios({ name, label, value, choices = [] }: FormField, id: string, state: Html, notes: Html): Html {
  return html`<fieldset class="field radios"><legend>${label}</legend>${choices.map(
    (choice, index) =>
      html`<label class="radio"><input type="radio" name="${name}" value="${choice.value}" ${
        index === 0 ? html`id="${id}"` : null
      } ${choice.value === value ? html`checked` : null} ${state}><span>${choice.label}</span>${
        choice.hint ? html`<span class="radio-hint">${choice.hint}</span>` : null
      }</label>`,
  )}${notes}</fieldset>`;
}

/** Of several choices none is made for the visitor: a form that is sent in a hurry must not act on the first one. */
function renderUnchosen(choices: readonly Choice[], value: string): Html | null {
  if (choices.length === 1 || choices.some((choice) => choice.value === value)) return null;
  return html`<option value="" selected>${choices.length === 0 ? 'There is nothing to choose' : 'Choose…'}</option>`;
}

/** A hint, and whether there is more to choose than the field offers. */
function hintOf({ hint, isCut, choices = [], value }: FormField): FormField['hint'] {
  if (!isCut) return hint;
  return html`${hint ? html`${hint} ` : null}${explainCut(choices, value)}`;
}

/** A field that offers its choices while somebody types, and takes what it does not offer. */
function renderOpenSelect({ choices = [], value = '' }: FormField, id: string, common: Html): Html {
  const [empty] = choices.filter((choice) => choice.value === '');
  return html`<input type="text" ${common} list="${id}-choices" value="${value}" placeholder="${empty?.label ?? ''}" maxlength="100" autocomplete="off" autocapitalize="none" spellcheck="false">
<datalist id="${id}-choices">${choices
    .filter((choice) => choice.value !== '')
    .map((choice) => html`<option value="${choice.value}" label="${choice.label}"></option>`)}</datalist>`;
}

function renderControl(field: FormField, id: string, state: Html): Html {
  const {
    name,
    kind = 'text',
    value = '',
    choices = [],
    maxLength,
    min,
    max,
    autocomplete = 'off',
    isOptional,
    isSecret,
  } = field;
  const common = html`id="${id}" name="${name}" ${isOptional ? null : html`aria-required="true"`} ${isSecret ? html`data-secret` : null} ${state}`;
  const length = maxLength === undefined ? null : html`maxlength="${maxLength}"`;
  if (kind === 'area' || kind === 'code') {
    const rows = kind === 'code' ? 16 : 4;
    return html`<textarea ${common} ${length} rows="${rows}" class="${kind}" spellcheck="${String(kind === 'area')}">
${value}</textarea>`;
  }
  if (kind === 'files' || kind === 'folder') {
    return html`<input type="file" ${common} ${kind === 'folder' ? html`webkitdirectory` : null} multiple>`;
  }
  if (kind === 'select' && field.isCut) return renderOpenSelect(field, id, common);
  if (kind === 'select') {
    return html`<select ${common}>${renderUnchosen(choices, value)}${choices.map(
      (choice) =>
        html`<option value="${choice.value}" ${choice.value === value ? html`selected` : null}>${choice.label}</option>`,
    )}</select>`;
  }
  const type = kind === 'datetime' ? 'datetime-local' : kind;
  const bounds = html`${min === undefined ? null : html`min="${min}"`} ${max === undefined ? null : html`max="${max}"`}`;
  return html`<input type="${type}" ${common} ${length} ${bounds} value="${value}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false">`;
}
