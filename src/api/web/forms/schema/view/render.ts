import { type Html, html } from '../../../html.ts';
import type { Entry } from '../entry.ts';
import { holdsSecret, isComposite, type ObjectNode } from '../plan/node.ts';
import { slots } from '../slots.ts';
import { renderControl } from './controls.ts';
import { renderGroup } from './groups.ts';
import { type FormContext, isNeeded, type Part, renderEdit } from './part.ts';

/** How many optional variables are shown at once. Others are folded. */
const maxUnfolded = 6;

/** Renders the parts of a form for the members of an object: required ones first. */
export function renderMembers(
  root: ObjectNode,
  members: Readonly<Record<string, Entry>>,
  context: Omit<FormContext, 'render'>,
): Html {
  const whole: FormContext = { ...context, render: renderPart };
  const parts = root.members.flatMap((node): Part[] => {
    const entry = members[node.name];
    return entry ? [{ node, entry, slot: slots.member('', node.name), context: whole }] : [];
  });
  const needed = parts.filter(isNeeded);
  const others = parts.filter((part) => !isNeeded(part));
  const rest = html`${others.map(renderPart)}`;
  if (others.length <= maxUnfolded || needed.length === 0) return html`${needed.map(renderPart)}${rest}`;
  const isOpen = others.some((part) => isFilled(part.entry) || hasProblem(part));
  return html`${needed.map(renderPart)}<details class="fold" ${isOpen ? html`open` : null}><summary>${others.length} optional variables</summary><div class="form-part">${rest}</div></details>`;
}

function renderPart(part: Part): Html {
  const { node, entry } = part;
  if (!isComposite(node)) return renderControl(part);
  if (entry.kind !== 'json') return renderGroup(part);
  const back = holdsSecret(node)
    ? null
    : renderEdit(part, { name: 'form', label: 'Back to the form', quiet: node.title || node.name });
  return html`<div class="item">${renderControl(part)}${back}</div>`;
}

function hasProblem({ slot, context }: Part): boolean {
  return [...context.problems.keys()].some((at) => at === slot || at.startsWith(`${slot}/`));
}

/** Whether anything was entered. */
export function isFilled(entry: Entry): boolean {
  if (entry.kind === 'text' || entry.kind === 'json') return entry.text !== '';
  if (entry.kind === 'many') return entry.texts.length > 0;
  if (entry.kind === 'array') return entry.items.some(isFilled);
  if (entry.kind === 'shapes') return entry.shape !== null;
  return entry.rows.length > 0 || Object.values(entry.members).some(isFilled);
}
