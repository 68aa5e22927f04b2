import { newId } from '#domain/shared/ids.ts';
import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import { renderLinkedText } from '../linked-text.ts';
import type { LocalPath } from '../paths.ts';
import { explainCut } from './fields/choices.ts';
import { renderControl } from './fields/control.ts';
import { type FormField, withOnlyChoice } from './fields/form-field.ts';
import { renderMatrix } from './fields/matrix.ts';
import { nameMissing } from './missing-value.ts';
import type { FormProblems } from './problems.ts';
import { isStale, openedField, renderStale, revisionName, withPresentValues } from './stale.ts';

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
  /** What the service does meanwhile and how long that may take, where visitors would not expect to wait. A script shows it once the form is sent. */
  readonly waiting?: string;
  /** The visitor asked for this on an earlier page, so a script sends the form. It stands in a live part, which the answer replaces. */
  readonly goesOn?: boolean;
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

/** An answer that is an error replaces nothing: the form stays, and pressing its button shows what is wrong. */
function sentAtOnce(action: LocalPath): Html {
  return html`hx-post="${action}" hx-trigger="load once" hx-select="#live" hx-target="#live" hx-swap="outerMorph"`;
}

/** The link of a form that leads visitors who change their mind away from it. The browser forgets what they typed. */
export function renderCancel(path: LocalPath, label = 'Cancel'): Html {
  return html`<a class="button button-plain" href="${path}" data-cancel>${label}</a>`;
}

/** The idempotency key of a form, so that sending it twice does the work once. Every form has one, unless it sends a password. */
export function renderKey(): Html {
  return html`<input type="hidden" name="key" value="${newId()}">`;
}

/** A receipt holds a digest of what was sent, and none is kept of a password. These forms make nothing twice: what they make has a name of its own. */
function isPassword({ kind }: FormField): boolean {
  return kind === 'password';
}

function isField(field: FormField | Html): field is FormField {
  return typeof field === 'object' && 'label' in field;
}

function withState(field: FormField, typed: Readonly<Record<string, string>>, stale: boolean): FormField {
  // Hidden fields that the browser does not keep describe the present values.
  const describesPresent = field.kind === 'hidden' && (field.isUnkept || field.name === revisionName);
  if (stale && describesPresent) return field;
  // A visitor cannot choose nothing among radio buttons.
  const isUnchosen = field.kind === 'radio' && typed[field.name] === '';
  const value = field.kind === 'password' ? undefined : isUnchosen ? field.value : (typed[field.name] ?? field.value);
  return { ...field, value };
}

/** The problems of a form, with links to their fields. It gets the focus when the page opens. */
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

/** A visitor cannot go to a hidden field. */
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
    return html`<div class="field"><label class="${field.isSwitch ? 'switch' : 'choice'}"><input type="checkbox" ${field.isSwitch ? html`role="switch"` : null} id="${id}" name="${name}" value="yes" ${
      value === 'yes' ? html`checked` : null
    } ${unkept} ${state}> <span>${label}</span></label>${notes}</div>`;
  }
  if (kind === 'radio') return renderRadios(field, id, state, notes);
  return html`<div class="field ${field.isReasonOfSwitch ? 'reason-of-switch' : ''}"><label for="${id}">${label}${isOptional ? html` <span class="muted">optional</span>` : null}</label>
${renderControl(field, id, state)}${notes}${field.below}</div>`;
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

/** A hint, and whether there is more to choose than the field offers. */
function hintOf({ hint, isCut, choices = [], choiceKinds }: FormField): FormField['hint'] {
  if (!isCut) return hint;
  return html`${hint ? html`${hint} ` : null}${explainCut({ choices, choiceKinds })}`;
}
