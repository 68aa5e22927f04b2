import type { Choice } from '#api/web/forms/fields/choices.ts';
import { fieldId } from '#api/web/forms/form.ts';
import { type Html, html } from '#api/web/html.ts';
import { list as listActions } from '../../action-operations.ts';
import type { PluginVisit } from '../views.ts';

/** The actions that a form offers, by name. A plugin may have more than a form can offer. */
export interface ActionChoices {
  readonly choices: readonly Choice[];
  readonly isCut: boolean;
}

export async function readActionChoices(visit: PluginVisit, installationId: string): Promise<ActionChoices> {
  const query = { installation_id: installationId, limit: '200' };
  const { actions, next_cursor: next } = await visit.read(listActions, { query });
  const choices = actions.map(({ name }) => ({ value: name, label: name }));
  return { choices: choices.sort((one, other) => one.label.localeCompare(other.label)), isCut: next !== null };
}

interface AskedField {
  readonly form: string;
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly isRequired?: boolean;
  /** The key that moves to the field. */
  readonly key?: string;
}

/** A field for a name or an id. */
export function renderAsked({ form, name, label, value, isRequired, key }: AskedField): Html {
  const id = fieldId(name, form);
  return html`<div class="field"><label for="${id}">${label}</label><input id="${id}" name="${name}" type="search" value="${value ?? ''}" maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false" ${isRequired ? html`required` : null} ${key ? html`data-key="${key}" data-key-says="Filter"` : null}></div>`;
}
