import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Named, Names } from '#domain/tenancy/names.ts';

/** The name of a thing on pages. Instances in several environments often share a name, so that of an instance includes its environment. */
export function placedName({ name, environment }: Pick<Named, 'name' | 'environment'>): string {
  return environment === null ? name : `${name} in ${environment}`;
}

/** A link to an instance, with the environment beside it. */
export function renderInstanceLink(id: string, names: Names): Html {
  const { name = id, environment = null } = names.get(id) ?? {};
  const where =
    environment === null ? null : html` <span class="muted">in <span class="foreign">${environment}</span></span>`;
  return html`<span><a class="foreign" href="${pagePath(pages.instance, { id })}">${name}</a>${where}</span>`;
}
