import { writeEdit } from '#api/web/forms/schema/edit.ts';
import { fieldNames, idOf, slots } from '#api/web/forms/schema/slots.ts';
import { openPart, secretPart, type VariablesEntry } from '#api/web/forms/schema/variables.ts';
import { renderMembers } from '#api/web/forms/schema/view/render.ts';
import { type Html, html } from '#api/web/html.ts';
import type { RunFacts } from './facts.ts';

interface VariableFields {
  readonly facts: RunFacts;
  readonly entry: VariablesEntry;
  readonly action: string;
  readonly problems: ReadonlyMap<string, string>;
  /** All variables but secrets are written as one JSON text. */
  readonly isJson: boolean;
}

/** The fields of the variables, or their JSON beside the fields of the secrets. */
export function renderVariableFields({ facts, entry, action, problems, isJson }: VariableFields): Html {
  const { root } = facts;
  if (root.members.length === 0) return html`<p class="muted">It has no variables.</p>`;
  const context = { action, problems, inherited: describeKept(facts) };
  const edit = (name: 'json' | 'form', label: string) =>
    html`<p><button class="button button-small" type="submit" name="do" value="${writeEdit(name, '')}" formaction="${action}#variables" data-edit>${label}</button></p>`;
  if (!isJson) {
    const mayWrite = openPart(root).members.length > 0;
    return html`${renderMembers(root, entry.members, context)}${mayWrite ? edit('json', 'Write all variables as JSON') : null}`;
  }
  const id = idOf(fieldNames.json(''));
  return html`<div class="field"><label for="${id}">Variables as JSON</label><textarea class="code" id="${id}" name="${fieldNames.json('')}" rows="16" spellcheck="false" autocomplete="off">
${entry.json ?? ''}</textarea></div>
${edit('form', 'Back to the form')}
${renderMembers(secretPart(root), entry.members, context)}`;
}

/** What applies to secrets of a copied run that are left empty. */
function describeKept({ source, root, inherited }: RunFacts): ReadonlyMap<string, string> {
  const secrets = new Set(source?.prefill?.secrets ?? []);
  const kept = root.members
    .filter(({ name }) => secrets.has(name))
    .map(({ name }): [string, string] => [
      slots.member('', name),
      'Left empty, the value of the earlier run is kept, if nothing else changes. Otherwise enter it again',
    ]);
  return new Map([...inherited, ...kept]);
}
