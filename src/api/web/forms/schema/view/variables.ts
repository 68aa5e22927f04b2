import { renderIcon } from '../../../components/icon.ts';
import { type Html, html } from '../../../html.ts';
import { writeEdit } from '../edit.ts';
import type { ObjectNode } from '../plan/node.ts';
import { fieldNames, idOf } from '../slots.ts';
import { openPart, secretPart, type VariablesEntry } from '../variables.ts';
import { renderMembers } from './render.ts';

export interface VariableFields {
  /** The variables of the version. */
  readonly root: ObjectNode;
  readonly entry: VariablesEntry;
  /** The address to which the form is sent. */
  readonly action: string;
  /** The problems of variables, by slot. */
  readonly problems: ReadonlyMap<string, string>;
  /** For variables whose default does not apply when they are left empty: what applies instead, by slot. */
  readonly inherited: ReadonlyMap<string, string>;
  /** As in `FormContext`. */
  readonly requirementNotes?: ReadonlyMap<string, string>;
  /** A comparison of each variable with the value that the form starts from, by slot. */
  readonly comparisons?: ReadonlyMap<string, Html>;
  /** The secrets that were entered before, by slot. The form sends them along. */
  readonly entered?: ReadonlyMap<string, unknown>;
  /** The text if there are no variables. */
  readonly none?: string;
  /** The heading of the fields. */
  readonly title?: string;
}

/** The fields of variables, or their JSON beside the fields of the secrets. */
export function renderVariableFields(fields: VariableFields): Html {
  const { root, entry, none = 'It has no variables.', title = 'Variables', ...context } = fields;
  if (root.members.length === 0) return html`<p class="muted">${none}</p>`;
  const edit = (name: 'json' | 'form', label: string) =>
    html`<p><button class="button button-small" type="submit" name="do" value="${writeEdit(name, '')}" formaction="${context.action}#variables" data-edit>${label}</button></p>`;
  if (entry.json === null) {
    const mayWrite = openPart(root).members.length > 0;
    return html`${renderMembers(root, entry.members, context)}${mayWrite ? edit('json', `Write all ${title.toLowerCase()} as JSON`) : null}`;
  }
  const id = idOf(fieldNames.json(''));
  const state = entry.unshown ? html`aria-invalid="true" aria-describedby="${id}-problem"` : null;
  return html`<div class="field"><label for="${id}">${title} as JSON</label><textarea class="code" id="${id}" ${state} name="${fieldNames.json('')}" rows="16" spellcheck="false" autocomplete="off">
${entry.json}</textarea>${entry.unshown ? html`<p class="field-problem" id="${id}-problem">${renderIcon('octagon-x')}<span>${entry.unshown}</span></p>` : null}</div>
${edit('form', 'Back to the form')}
${renderMembers(secretPart(root), entry.members, context)}`;
}
