import { type Html, html } from '../../../html.ts';
import { unchosen } from '../../fields/choices.ts';
import { renderLines } from '../../fields/lines.ts';
import {
  holdsSecret,
  type LabeledValue,
  type ManyNode,
  type NumberNode,
  type OptionsNode,
  type TextNode,
} from '../plan/node.ts';
import { fieldNames } from '../slots.ts';
import { shorten } from './hints.ts';
import { isNeeded, type Labeled, labelPart, type Part } from './part.ts';

const fewOptions = 4;
const shortLabel = 24;

/** A part without inner parts: one control with its label, hints and problem. */
export function renderControl(part: Part): Html {
  const { node } = part;
  if (part.entry.kind === 'json' || node.kind === 'json') return renderJson(part);
  if (node.kind === 'fixed') return renderFixed(part, node.value);
  if (node.kind === 'options') return renderOptions(part, node);
  if (node.kind === 'many') return renderMany(part, node);
  return renderText(part, node as TextNode | NumberNode);
}

function textIn({ entry, node }: Part): string {
  return entry.kind === 'text' && !node.isSecret ? entry.text : '';
}

function field({ id, label, notes }: Labeled, control: Html): Html {
  return html`<div class="field"><label for="${id}">${label}</label>
${control}${notes}</div>`;
}

function renderText(part: Part, node: TextNode | NumberNode): Html {
  const name = fieldNames.value(part.slot);
  const labeled = labelPart(part, name);
  const value = textIn(part);
  const common = html`id="${labeled.id}" name="${name}" ${isNeeded(part) ? html`aria-required="true"` : null} ${labeled.state} spellcheck="false" autocapitalize="none"`;
  const hasLines = (node.kind === 'text' && node.input === 'lines') || value.includes('\n');
  if (hasLines) {
    const secret = node.isSecret ? html`data-secret` : null;
    // Browsers drop a line break at the beginning of a text area, so the markup has one more.
    return field(
      labeled,
      html`<textarea ${common} rows="4" class="area ${node.isSecret ? 'secret' : ''}" autocomplete="off" ${secret}>
${value}</textarea>`,
    );
  }
  const several = renderLines({ id: labeled.id, name: fieldNames.lines(part.slot), isSecret: node.isSecret });
  if (node.isSecret && node.kind === 'text')
    return field(labeled, html`<input type="password" ${common} data-lines autocomplete="new-password">${several}`);
  if (node.isSecret) return field(labeled, html`<input type="password" ${common} autocomplete="new-password">`);
  if (node.kind === 'number')
    return field(labeled, html`<input type="text" inputmode="decimal" ${common} value="${value}" autocomplete="off">`);
  const isDate = node.input === 'date' && (value === '' || /^\d{4}-\d{2}-\d{2}$/.test(value));
  const lines = isDate ? null : html`data-lines`;
  return field(
    labeled,
    html`<input type="${isDate ? 'date' : 'text'}" ${common} ${lines} value="${value}" autocomplete="off">${isDate ? null : several}`,
  );
}

/** A text area for JSON. Its value is not shown again if it may contain a secret. */
function renderJson(part: Part): Html {
  const name = fieldNames.json(part.slot);
  const labeled = labelPart(part, name);
  const isSecret = holdsSecret(part.node);
  const text = part.entry.kind === 'json' && !isSecret ? part.entry.text : '';
  const rows = Math.min(16, Math.max(4, text.split('\n').length));
  return field(
    { ...labeled, label: html`${labeled.label} <span class="muted">as JSON</span>` },
    html`<textarea class="code" id="${labeled.id}" name="${name}" rows="${rows}" spellcheck="false" autocomplete="off" ${labeled.state} ${isSecret ? html`data-secret` : null}>
${text}</textarea>`,
  );
}

function renderFixed(part: Part, value: Parameters<typeof shorten>[0]): Html {
  const { id, label, state, notes } = labelPart(part, fieldNames.value(part.slot));
  return html`<div class="field" role="group" aria-labelledby="${id}-label" ${state}><span class="field-label" id="${id}-label">${label}</span>
<output class="fixed foreign" id="${id}">${shorten(value)}</output>${notes}</div>`;
}

function renderOptions(part: Part, node: OptionsNode): Html {
  const name = fieldNames.value(part.slot);
  const labeled = labelPart(part, name);
  const chosen = chosenOf(part, node);
  const isFew = node.options.length <= fewOptions && node.options.every(({ label }) => label.length <= shortLabel);
  if (isFew) return renderRadios(part, node, { labeled, name, chosen });
  const options = node.options.map(({ value, label }) => {
    const text = JSON.stringify(value);
    return html`<option value="${text}" ${text === chosen ? html`selected` : null}>${label}</option>`;
  });
  const isOnly = isNeeded(part) && node.options.length === 1;
  const blank = isNeeded(part) ? unchosen.label : whenBlank(part);
  return field(
    labeled,
    html`<select id="${labeled.id}" name="${name}" ${labeled.state} ${isNeeded(part) ? html`aria-required="true"` : null}>${isOnly ? null : html`<option value="">${blank}</option>`}${options}</select>`,
  );
}

/** The selected option. A required value with only one option has it selected from the start. */
function chosenOf(part: Part, { options: [only, ...others] }: OptionsNode): string {
  return isNeeded(part) && only && others.length === 0 ? JSON.stringify(only.value) : textIn(part);
}

interface Radios {
  readonly labeled: Labeled;
  readonly name: string;
  readonly chosen: string;
}

function renderRadios(part: Part, node: OptionsNode, { labeled, name, chosen }: Radios): Html {
  const choices = node.options.map(({ value, label }) => ({ text: JSON.stringify(value), label }));
  const all = isNeeded(part) ? choices : [{ text: '', label: whenBlank(part) }, ...choices];
  return html`<fieldset class="field" ${labeled.state} id="${labeled.id}" tabindex="-1"><legend>${labeled.label}</legend>
<div class="choices">${all.map(
    ({ text, label }) =>
      html`<label class="choice"><input type="radio" name="${name}" value="${text}" ${text === chosen ? html`checked` : null}> <span class="foreign">${label}</span></label>`,
  )}</div>${labeled.notes}</fieldset>`;
}

/** Says what applies if nothing is selected. */
function whenBlank({ node, slot, context }: Part): string {
  if (context.entered?.has(slot)) return 'What you entered';
  const inherited = context.inherited.get(slot);
  if (inherited !== undefined) return inherited;
  if (node.default === undefined) return 'Not set';
  const label = node.kind === 'options' ? node.options.find(({ value }) => value === node.default)?.label : undefined;
  return `Default (${label ?? shorten(node.default)})`;
}

function renderMany(part: Part, { options }: ManyNode): Html {
  const name = fieldNames.value(part.slot);
  const { id, label, state, notes } = labelPart(part, name);
  const chosen = part.entry.kind === 'many' ? part.entry.texts : [];
  const box = ({ value, label: text }: LabeledValue) => {
    const json = JSON.stringify(value);
    return html`<label class="choice"><input type="checkbox" name="${name}" value="${json}" ${chosen.includes(json) ? html`checked` : null}> <span class="foreign">${text}</span></label>`;
  };
  return html`<fieldset class="field" ${state} id="${id}" tabindex="-1"><legend>${label}</legend>
<div class="choices">${options.map(box)}</div>${notes}</fieldset>`;
}
