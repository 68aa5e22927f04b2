import { renderIcon } from '../../../components/icon.ts';
import { type Html, html } from '../../../html.ts';
import { type Entry, itemNode, maxFormItems } from '../entry.ts';
import { type ArrayNode, holdsSecret, type ObjectNode, type ShapesNode } from '../plan/node.ts';
import { fieldNames, groupId, idOf, slots } from '../slots.ts';
import { readEntry } from '../value.ts';
import { labelPart, nameOf, type Part, renderEdit } from './part.ts';

/** A part with inner parts, with buttons that add and remove them. */
export function renderGroup(part: Part): Html {
  const { node, entry } = part;
  if (node.kind === 'object' && entry.kind === 'object') return renderObject(part, node, entry);
  if (node.kind === 'array' && entry.kind === 'array') return renderArray(part, node, entry);
  if (node.kind === 'shapes' && entry.kind === 'shapes') return renderShapes(part, node, entry);
  return part.context.render({ ...part, entry: { kind: 'json', text: '' } });
}

function group(part: Part, content: Html, end: Html | null = null): Html {
  const name = `g${part.slot}`;
  const { label, state, notes } = labelPart(part, name);
  const quiet = plainName(part);
  const asJson = holdsSecret(part.node) ? null : renderEdit(part, { name: 'json', label: 'Write as JSON', quiet });
  return html`<fieldset class="group" id="${groupId(part.slot)}" tabindex="-1" ${state}><legend>${label}</legend>${notes}
${content}
<div class="group-end">${end}${asJson}</div></fieldset>`;
}

function plainName({ node, label }: Part): string {
  return node.title || node.name || label || 'value';
}

function renderObject(part: Part, node: ObjectNode, entered: Extract<Entry, { kind: 'object' }>): Html {
  const { members, rows } = entered;
  const { slot, context } = part;
  const isEmpty = readEntry({ ...node, isRequired: false }, entered, '').value === undefined;
  const start = isEmpty ? renderStart(part) : null;
  const fields = node.members.map((member) => {
    const entry = members[member.name];
    return entry ? context.render({ node: member, entry, slot: slots.member(slot, member.name), context }) : null;
  });
  const { row } = node;
  if (!row) return group(part, html`${fields}`, start);
  const shown = rows.map(({ key, entry }, index) => {
    const place = slots.row(slot, index);
    const id = idOf(fieldNames.key(place));
    const label = `Value ${index + 1}`;
    return html`<div class="item item-row"><div class="field"><label for="${id}">Name ${index + 1}</label><input type="text" id="${id}" name="${fieldNames.key(place)}" value="${key}" autocomplete="off" autocapitalize="none" spellcheck="false"></div>
${context.render({ node: row, entry, slot: place, label, context })}
${remove(part, index)}</div>`;
  });
  const count = html`<input type="hidden" name="${fieldNames.count(slot)}" value="${rows.length}" data-kept>`;
  return group(
    part,
    html`${fields}${count}${shown}`,
    html`${rows.length < maxFormItems ? add(part, 'Add a name and value') : null}${start}`,
  );
}

function renderArray(part: Part, node: ArrayNode, { items }: Extract<Entry, { kind: 'array' }>): Html {
  const { slot, context } = part;
  const shown = items.map((entry, index) => {
    const item = itemNode(node, index);
    if (!item) return null;
    const label = `Item ${index + 1}`;
    const content = context.render({ node: item, entry, slot: slots.item(slot, index), label, context });
    return html`<div class="item">${content}${index < node.first.length ? null : remove(part, index)}</div>`;
  });
  const count = html`<input type="hidden" name="${fieldNames.count(slot)}" value="${items.length}" data-kept>`;
  const mayAdd = node.item !== null && items.length < maxFormItems;
  const start = items.length === 0 ? renderStart(part) : null;
  return group(part, html`${count}${shown}`, html`${mayAdd ? add(part, 'Add an item') : null}${start}`);
}

/** A button that fills in the default of a list or a map, so that somebody can change a part of it. */
function renderStart(part: Part): Html | null {
  const { default: value } = part.node;
  const isFilled = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isFilled) return null;
  return renderEdit(part, { name: 'default', label: 'Change the default', quiet: `of ${plainName(part)}` });
}

function add(part: Part, label: string): Html {
  return renderEdit(part, { name: 'add', label: html`${renderIcon('plus')}${label}`, quiet: `to ${plainName(part)}` });
}

function remove(part: Part, index: number): Html {
  return renderEdit(part, {
    name: 'remove',
    index,
    label: html`${renderIcon('x')}Remove`,
    quiet: `${index + 1} of ${plainName(part)}`,
  });
}

function renderShapes(part: Part, node: ShapesNode, { shape, entry }: Extract<Entry, { kind: 'shapes' }>): Html {
  const { slot, context } = part;
  const name = fieldNames.shape(slot);
  const id = idOf(name);
  const chosen = shape === null ? undefined : node.shapes[shape];
  const options = node.shapes.map(
    ({ title }, index) =>
      html`<option value="${index}" ${index === shape ? html`selected` : null}>${title || `Shape ${index + 1}`}</option>`,
  );
  const select = html`<div class="field"><label for="${id}">Kind of <span class="foreign">${nameOf(part)}</span></label><div class="joined"><select id="${id}" name="${name}" data-edits><option value="">${node.isRequired ? 'Choose…' : 'Not set'}</option>${options}</select>${renderEdit(part, { name: 'show', label: 'Show fields', quiet: `of ${plainName(part)}` })}</div></div>`;
  const shown = html`<input type="hidden" name="${fieldNames.shown(slot)}" value="${shape ?? ''}" data-kept>`;
  if (shape === null || !chosen || !entry) return group(part, html`${select}${shown}`);
  const inner = { ...chosen, name: '' };
  const content = context.render({ node: inner, entry, slot: slots.shape(slot, shape), label: chosen.title, context });
  return group(part, html`${select}${shown}${content}`);
}
