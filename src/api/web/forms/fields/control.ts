import { type Html, html } from '#api/web/html.ts';
import { type Choice, nameOfChoice, unchosen } from './choices.ts';
import { type FormField, sentValue } from './form-field.ts';
import { renderLines } from './lines.ts';

/** The control of a field. `state` has the attributes that describe it to screen readers. */
export function renderControl(field: FormField, id: string, state: Html): Html {
  const {
    name,
    kind = 'text',
    value = '',
    choices = [],
    min,
    max,
    autocomplete = 'off',
    isOptional,
    isSecret,
    isUnkept,
  } = field;
  const common = html`id="${id}" name="${name}" ${isOptional ? null : html`aria-required="true"`} ${isSecret ? html`data-secret` : null} ${isUnkept ? html`data-unkept` : null} ${state}`;
  if (kind === 'area' || kind === 'code') {
    const rows = kind === 'code' ? 16 : 4;
    return html`<textarea ${common} rows="${rows}" class="${kind}" spellcheck="${String(kind === 'area')}">
${value}</textarea>`;
  }
  if (kind === 'files' || kind === 'folder') {
    return html`<input type="file" ${common} ${kind === 'folder' ? html`webkitdirectory` : null} multiple>`;
  }
  if (kind === 'select' && field.isCut) return renderOpenSelect(byName(field), id, common);
  if (kind === 'select') {
    return html`<select ${common}>${renderUnchosen(choices, value)}${renderOptions(choices, value)}</select>`;
  }
  if (field.suggestions) return renderOpenSelect({ ...field, choices: field.suggestions }, id, common);
  const type = kind === 'datetime' ? 'datetime-local' : kind;
  const bounds = html`${min === undefined ? null : html`min="${min}"`} ${max === undefined ? null : html`max="${max}"`}`;
  const lines = linesName(field);
  return html`<input type="${type}" ${common} ${lines ? html`data-lines` : null} ${bounds} value="${value}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false">${lines ? renderLines({ id, name: lines, isSecret: true }) : null}`;
}

function renderOptions(choices: readonly Choice[], value: string): Html[] {
  const options = choices.map(
    (choice) =>
      [
        choice.group,
        html`<option value="${choice.value}" ${choice.value === value ? html`selected` : null}>${choice.label}</option>`,
      ] as const,
  );
  const groups = [...new Set(options.map(([group]) => group))];
  return groups.map((group) => {
    const inGroup = options.filter(([each]) => each === group).map(([, option]) => option);
    return group === undefined ? html`${inGroup}` : html`<optgroup label="${group}">${inGroup}</optgroup>`;
  });
}

/** The second name of a field whose value may have several lines; null if it cannot. */
export function linesName({ name, kind, isSecret }: FormField): string | null {
  return kind === 'password' && isSecret ? `${name}.lines` : null;
}

/** A field without all of its choices offers names, because nobody reads ids. */
function byName(field: FormField): FormField {
  const { choices = [] } = field;
  const named = choices.map((choice) => ({ ...choice, value: nameOfChoice(choices, choice.value) }));
  // The empty choice keeps its value, because an empty field has a meaning.
  const shown = named.map((choice, index) => (choices[index]?.value === '' ? { ...choice, value: '' } : choice));
  return { ...field, choices: shown, value: sentValue(field) };
}

/** A text field that suggests its choices while somebody types, and accepts others. */
function renderOpenSelect({ choices = [], value = '' }: FormField, id: string, common: Html): Html {
  const [empty] = choices.filter((choice) => choice.value === '');
  return html`<input type="text" ${common} list="${id}-choices" value="${value}" placeholder="${empty?.label ?? ''}" autocomplete="off" autocapitalize="none" spellcheck="false">
<datalist id="${id}-choices">${choices
    .filter((choice) => choice.value !== '')
    .map((choice) => html`<option value="${choice.value}" label="${choice.label}"></option>`)}</datalist>`;
}

/** If there are several choices, none is preselected: a form that is submitted in a hurry must not act on the first one. */
function renderUnchosen(choices: readonly Choice[], value: string): Html | null {
  if (choices.some((choice) => choice.value === value)) return null;
  return html`<option value="" selected>${choices.length === 0 ? 'There is nothing to choose' : unchosen.label}</option>`;
}
