import { renderIcon } from '../../../components/icon.ts';
import { type Html, html } from '../../../html.ts';
import { type Edit, writeEdit } from '../edit.ts';
import type { Entry } from '../entry.ts';
import type { Node } from '../plan/node.ts';
import { groupId, idOf } from '../slots.ts';
import { describeDefault, describeExamples, describeRules } from './hints.ts';

/** What all parts of a form share while they are rendered. */
export interface FormContext {
  /** The address to which the form is sent. */
  readonly action: string;
  /** The messages, by slot. */
  readonly problems: ReadonlyMap<string, string>;
  /** For variables whose default does not apply when they are left empty: what applies instead, by slot. */
  readonly inherited: ReadonlyMap<string, string>;
  /** Replacements for the word "optional", by slot. An empty one makes the field required. */
  readonly requirementNotes?: ReadonlyMap<string, string>;
  /** A comparison of each variable with the value that the form starts from, by slot. */
  readonly comparisons?: ReadonlyMap<string, Html>;
  /** The secrets that were entered before, by slot. The form sends them along. */
  readonly entered?: ReadonlyMap<string, unknown>;
  readonly render: (part: Part) => Html;
}

/** One part of a form. */
export interface Part {
  readonly node: Node;
  readonly entry: Entry;
  readonly slot: string;
  /** The name for a node without one, such as "Item 2". */
  readonly label?: string;
  readonly context: FormContext;
}

/** How a control refers to its label, hints and problem. */
export interface Labeled {
  readonly id: string;
  readonly label: Html;
  /** The attributes that connect a control with its descriptions. */
  readonly state: Html;
  readonly notes: Html;
}

/** The label, the hints and the problem of a part whose main field has this name. */
export function labelPart(part: Part, fieldName: string): Labeled {
  const { node, entry, slot, context } = part;
  const id = idOf(fieldName);
  const unshown = entry.kind === 'json' ? entry.unshown : undefined;
  const problem = unshown ?? context.problems.get(slot);
  const hints = hintsOf(part);
  const described = [hints ? `${id}-hint` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ');
  return {
    id,
    label: html`${nameOf(part)}${isNeeded(part) || node.kind === 'fixed' ? null : html` <span class="muted">${context.requirementNotes?.get(slot) ?? 'optional'}</span>`}`,
    state: html`${described ? html`aria-describedby="${described}"` : null} ${problem ? html`aria-invalid="true"` : null}`,
    notes: html`${hints ? html`<div class="field-hint" id="${id}-hint">${hints}</div>` : null}${
      problem
        ? html`<p class="field-problem" id="${id}-problem">${renderIcon('octagon-x')}<span>${problem}</span></p>`
        : null
    }${context.entered?.has(slot) ? renderForget(part, id) : null}`,
  };
}

/** A button that removes a secret which the form sends along. Its field is shown empty, so nobody can clear it there. */
function renderForget(part: Part, at: string): Html {
  const quiet = `for ${part.node.name || part.label || 'this value'}`;
  return html`<div>${renderEdit(part, { name: 'forget', label: 'Remove what you entered', quiet, at })}</div>`;
}

/** Whether the visitor must enter something, because nothing else provides the value. */
export function isNeeded({ node, slot, context }: Part): boolean {
  if (context.requirementNotes?.get(slot) === '') return true;
  return node.isRequired && node.default === undefined && !context.inherited.has(slot) && !context.entered?.has(slot);
}

/** The name of a part: the author's title and, beside it, the JSON name, or else the name alone. */
export function nameOf({ node, label }: Part): Html {
  const { name, title } = node;
  if (title !== '' && name !== '' && title !== name)
    return html`<span class="foreign">${title}</span> <code class="field-name">${name}</code>`;
  return html`<span class="foreign">${title || name || label || 'Value'}</span>`;
}

const whatIsEntered = 'You have entered it. Left empty, what you entered is used';

function hintsOf(part: Part): Html | null {
  const { node, slot, context } = part;
  const inherited = context.entered?.has(slot) ? whatIsEntered : context.inherited.get(slot);
  const rules = node.kind === 'options' || node.kind === 'fixed' ? [] : describeRules(node.schema);
  const facts = [
    ...rules,
    ...[describeExamples(node.schema), inherited ?? (node.kind === 'options' ? '' : describeDefault(node))]
      .filter((text) => text !== '')
      .map((text) => html`<span class="foreign">${text}</span>`),
    ...describeReplacement(part),
  ];
  const line = facts.map((fact, index) => html`${index > 0 ? ' · ' : null}${fact}`);
  const comparison = context.comparisons?.get(slot);
  if (!node.description && facts.length === 0 && !node.isDeprecated && !comparison) return null;
  return html`${node.isDeprecated ? html`<p><strong>Deprecated.</strong> Its author advises against using it.</p>` : null}${
    node.description ? html`<p class="foreign prewrap">${node.description}</p>` : null
  }${facts.length > 0 ? html`<p>${line}</p>` : null}${comparison ? html`<p class="field-compared">${comparison}</p>` : null}`;
}

/** Says that an entry for a composite value replaces the whole default or inherited value, so that nobody expects it to be merged. */
function describeReplacement({ node, entry, slot, context }: Part): string[] {
  const { default: value } = node;
  const isGiven = context.inherited.has(slot);
  const isFilled = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isGiven && !isFilled) return [];
  const replaced = isGiven ? 'this value' : 'the default';
  if (entry.kind === 'many') return [`What you choose replaces ${replaced} as a whole`];
  if (entry.kind === 'array' && node.kind === 'array')
    return entry.items.length > node.first.length ? [`Your items replace ${replaced}`] : [];
  if (entry.kind !== 'object' || node.kind !== 'object') return [];
  if (node.members.length > 0) return [`What you enter replaces ${replaced} as a whole`];
  return entry.rows.length > 0 ? [`Your entries replace ${replaced}`] : [];
}

/** A button that changes the form without submitting it. Without scripts, the page is reloaded at the changed part. */
export function renderEdit(
  { slot, context }: Part,
  edit: {
    readonly name: Edit['name'];
    readonly index?: number;
    readonly label: Html | string;
    readonly quiet?: string;
    /** The id of the part, if it is not a group. */
    readonly at?: string;
  },
): Html {
  const value = writeEdit(edit.name, slot, edit.index);
  return html`<button class="button button-small" type="submit" name="do" value="${value}" formaction="${context.action}#${edit.at ?? groupId(slot)}" data-edit>${edit.label}${
    edit.quiet ? html`<span class="unseen"> ${edit.quiet}</span>` : null
  }</button>`;
}
