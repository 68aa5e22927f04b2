import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { findUnknownDefaults } from '#domain/variables/unknown-defaults-store.ts';
import type { ListedVariable } from './table.ts';

/** Warns of variables that are defaults for no template, and therefore have no effect. Null if there are none. */
export async function renderUnknownDefaults(
  { em, principal }: Pick<Visit, 'em' | 'principal'>,
  owner: Pick<Ownership, 'teamId' | 'organizationId'>,
  variables: readonly ListedVariable[],
): Promise<Html | null> {
  const defaults = variables.filter(({ category }) => category === 'template').map(({ name }) => name);
  const names = await findUnknownDefaults(em, principal, owner, defaults);
  if (names.length === 0) return null;
  const listed = names.map((name, index) => html`${index > 0 ? ', ' : null}<code class="foreign">${name}</code>`);
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<p><strong>No template that can run here has a variable ${listed}.</strong> ${names.length === 1 ? 'This default does' : 'These defaults do'} nothing. Correct the name, or choose “Environment variable” if tools shall get it.</p></div>`;
}
