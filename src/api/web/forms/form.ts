import { newId } from '#domain/shared/ids.ts';
import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import { renderLinkedText } from '../linked-text.ts';
import type { LocalPath } from '../paths.ts';
import { explainCut } from './fields/choices.ts';
import { renderControl } from './fields/control.ts';
import { type FormField, withOnlyChoice } from './fields/form-field.ts';
import { renderMatrix } from './fields/matrix.ts';
import { isYes, yesIf } from './fields/yes.ts';
import { type FormProblems, nameMissing } from './problems.ts';
import { revisionName } from './read-form.ts';
import { isStale, openedField, renderStale, withPresentValues } from './stale.ts';

export interface Form {
  /** The name of the form, which keeps its fields apart from those of other forms of the page. */
  readonly name?: string;
  readonly action: LocalPath;
  readonly fields: readonly (FormField | Html)[];
  /** The label of the button, or the buttons if the form has several. */
  readonly submit: string | Html;
  readonly tone?: 'primary' | 'danger';
  /** The page to which Cancel leads. */
  readonly cancel?: LocalPath;
  /** The label of this link; "Cancel" by default. */
  readonly cancelLabel?: string;
  readonly problems?: FormProblems | null;
  /** The form has buttons that show it again with a change. A script sends what they need. Enter still submits the form. */
  readonly hasEdits?: boolean;
  /** What was typed before, by the name of the field. It overrides the values of fields. */
  readonly typed?: Readonly<Record<string, string>>;
  /** The form sends files. Its route must accept them. */
  readonly hasFiles?: boolean;
  /**
   * A note for work that takes longer than visitors expect: what the service does, and how long that may take. A script shows it once the
   * form is sent.
   */
  readonly waiting?: string;
  /**
   * The visitor asked for this on an earlier page, so a script submits the form at once. The form is in a live part, which the answer
   * replaces.
   */
  readonly goesOn?: boolean;
}

/**
 * A form. Its problems are at their fields, and in a summary that links to them. What was typed stays, except for passwords. The service
 * checks required fields, because its messages say more than those of the browser.
 */
export function renderForm(form: Form): Html {
  const {
    name,
    action,
    fields,
    submit,
    tone = 'primary',
    cancel,
    cancelLabel,
    problems,
    hasFiles,
    hasEdits,
    waiting,
    goesOn,
  } = form;
  const plain = fields.filter(isField);
  const stale = isStale(problems, plain);
  const typed = stale ? withPresentValues(plain, form.typed ?? {}) : (form.typed ?? {});
  return html`<form class="form" method="post" action="${action}" ${hasFiles ? html`enctype="multipart/form-data"` : null} novalidate ${hasEdits ? html`data-edited` : null} ${goesOn ? sentAtOnce(action) : null}>
${hasEdits ? html`<button class="unseen" type="submit" tabindex="-1" aria-hidden="true">Send</button>` : null}
${
  problems
    ? stale
      ? renderStale(plain, typed, {
          renderLink: (field) => renderFieldLink(field, name),
          path: action,
          hasOtherValues: plain.length < fields.length,
        })
      : renderSummary(
          problems,
          plain.map((field) => withState(field, typed, stale)),
          name,
        )
    : null
}
${plain.some(isPassword) ? null : renderKey()}
${[...openedField(plain), ...fields].map((field) => (isField(field) ? renderFolded({ ...withState(field, typed, stale), form: name }, problems?.fields[field.name], typed) : field))}
<div class="form-end">${typeof submit === 'string' ? html`<button class="button button-${tone}" type="submit">${submit}</button>` : submit}${
    cancel ? renderCancel(cancel, cancelLabel) : null
  }</div>
${waiting ? html`<p class="notice" role="status" data-waiting hidden>${waiting}</p>` : null}
</form>`;
}

/** Submits the form when the page opens. An error replaces nothing: the form stays, and its button shows what is wrong. */
function sentAtOnce(action: LocalPath): Html {
  return html`hx-post="${action}" hx-trigger="load once" hx-select="#live" hx-target="#live" hx-swap="outerMorph"`;
}

/** The Cancel link of a form. The browser then forgets what was typed. */
export function renderCancel(path: LocalPath, label = 'Cancel'): Html {
  return html`<a class="button button-plain" href="${path}" data-cancel>${label}</a>`;
}

/** The idempotency key of a form, so that submitting it twice does the work once. Every form has one, unless it sends a password. */
export function renderKey(): Html {
  return html`<input type="hidden" name="key" value="${newId()}">`;
}

/**
 * Whether a field is a password. A form with one has no key, because a receipt contains a digest of what was sent, and no digest of a
 * password is stored. Without a key, such a form still makes nothing twice, because names must be unique.
 */
function isPassword({ kind }: FormField): boolean {
  return kind === 'password';
}

function isField(field: FormField | Html): field is FormField {
  return typeof field === 'object' && 'label' in field;
}

function withState(field: FormField, typed: Readonly<Record<string, string>>, stale: boolean): FormField {
  // Hidden fields that the browser does not keep describe the current values.
  const describesPresent = field.kind === 'hidden' && (field.isUnkept || field.name === revisionName);
  if (stale && describesPresent) return field;
  // A radio button cannot be unchecked, so an empty value means that none was sent.
  const isUnchosen = field.kind === 'radio' && typed[field.name] === '';
  const value = field.kind === 'password' ? undefined : isUnchosen ? field.value : (typed[field.name] ?? field.value);
  return { ...field, value };
}

/** The problems of a form, with links to their fields. The summary gets the focus when the page opens. */
export function renderSummary(
  { fields, others, listed = [] }: FormProblems,
  known: readonly FormField[],
  form?: string,
): Html {
  const placeOf = (name: string) => known.findIndex((each) => each.name === name) + 1 || known.length + 1;
  const inOrder = Object.entries(fields).sort(([one], [other]) => placeOf(one) - placeOf(other));
  const all = inOrder.map(([name, text]) => {
    const other = { name, label: name, ...(name === revisionName && hidden) };
    const field: FormField | undefined = known.find((each) => each.name === name);
    return { field: field ?? other, text: field ? nameMissing(text, field) : text };
  });
  const named = all.filter(({ field }) => field.kind !== 'hidden');
  return html`<div class="notice notice-problem" role="alert" tabindex="-1" data-focus>${renderIcon('octagon-x')}<div>
${others.map((text) => html`<p>${renderLinkedText(text)}</p>`)}
${all.length > named.length ? html`<p>This form is out of date. Open the page again.</p>` : null}
${
  named.length + listed.length > 0
    ? html`<ul class="plain-list">${named.map(({ field, text }) => html`<li>${renderFieldLink(field, form)}: ${renderLinkedText(text)}</li>`)}${listed.map(({ target, label, message }) => html`<li class="foreign"><a href="#${target}">${label}</a>: ${message}</li>`)}</ul>`
    : null
}</div></div>`;
}

const hidden = { kind: 'hidden' } as const;

/** The name of a field with a link to it, unless it is hidden. */
function renderFieldLink({ name, label, kind }: FormField, form: string | undefined): Html | string {
  return kind === 'hidden' ? label : html`<a href="#${fieldId(name, form)}">${label}</a>`;
}

/** The id of a field's control. `form` names its form, if the page has several. */
export function fieldId(name: string, form?: string): string {
  return `field-${form === undefined ? '' : `${form}-`}${name.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`;
}

function renderFolded(field: FormField, problem: string | undefined, typed: Readonly<Record<string, string>>): Html {
  const shown = renderFormField(field, problem, typed);
  if (field.foldedAs === undefined) return shown;
  return html`<details class="fold" ${problem === undefined ? null : html`open`}><summary>${field.foldedAs}</summary>${shown}</details>`;
}

export function renderFormField(
  given: FormField,
  problem?: string | undefined,
  typed: Readonly<Record<string, string>> = {},
): Html {
  const field = withOnlyChoice(given);
  const { name, label, kind = 'text', value, isOptional } = field;
  const hint = hintOf(field);
  const id = fieldId(name, field.form);
  const unkept = field.isUnkept ? html`data-unkept` : null;
  if (kind === 'hidden') return html`<input type="hidden" name="${name}" value="${value ?? ''}" ${unkept}>`;
  if (field.matrix) return renderMatrix(field.matrix, { id, label, typed });
  const described = [hint ? `${id}-hint` : null, problem ? `${id}-problem` : null].filter(Boolean).join(' ');
  const state = html`${described ? html`aria-describedby="${described}"` : null} ${problem ? html`aria-invalid="true"` : null}`;
  const notes = html`${hint ? html`<p class="field-hint" id="${id}-hint">${hint}</p>` : null}${
    problem
      ? html`<p class="field-problem" id="${id}-problem">${renderIcon('octagon-x')}<span>${renderLinkedText(nameMissing(problem, field))}</span></p>`
      : null
  }`;
  if (kind === 'checkbox') {
    return html`<div class="field"><label class="${field.isSwitch ? 'switch' : 'choice'}"><input type="checkbox" ${field.isSwitch ? html`role="switch"` : null} id="${id}" name="${name}" value="${yesIf(true)}" ${
      isYes(value) ? html`checked` : null
    } ${unkept} ${state}> <span>${label}</span></label>${notes}</div>`;
  }
  if (kind === 'radio') return renderRadios(field, id, state, notes);
  return html`<div class="field ${field.isReasonOfSwitch ? 'reason-of-switch' : ''}"><label for="${id}">${label}${isOptional ? html` <span class="muted">optional</span>` : null}</label>
${renderControl(field, id, state)}${notes}${field.below}</div>`;
}

/** Choices that are all visible, each with an explanation. The first one has the id, so that a summary can link to it. */
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

/** The hint of a field. If the field does not offer all choices, it says so. */
function hintOf({ hint, isCut, choices = [], choiceKinds }: FormField): FormField['hint'] {
  if (!isCut) return hint;
  return html`${hint ? html`${hint} ` : null}${explainCut({ choices, choiceKinds })}`;
}
