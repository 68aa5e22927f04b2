import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { NotDeployed } from './deployed.ts';
import type { UndoneRun } from './undone.ts';

/** Says why a form does not start from the deployment that the address names, and what fills it in instead. */
export function renderNotDeployed(start: NotDeployed, undone: UndoneRun | null): Html {
  const isFilledIn = start.last !== null;
  return html`<div class="notice${isFilledIn ? '' : ' notice-wait'}">${renderIcon(isFilledIn ? 'info' : 'triangle-alert')}<div class="stack"><p>${explain(start)}</p>${
    isFilledIn && undone
      ? html`<p>Where ${renderRunLink(undone.run_id)} changed a value, the form has the one before it.</p>`
      : null
  }</div></div>`;
}

function explain({ instance, isNew, destroyedBy, last }: NotDeployed): Html {
  if (!instance)
    return html`The instance doesn't exist any more, or you may not have access to it, so this form is not filled in with its values.`;
  const link = html`<a class="foreign" href="${pagePath(pages.instance, { id: instance.id })}">${instance.name}</a>`;
  if (isNew) return html`No run has deployed ${link} successfully yet, so this form is not filled in with values.`;
  if (!destroyedBy)
    return html`The values with which ${link} is deployed are not kept, or belong to another template, so this form is not filled in with them.`;
  const destroyed = html`${link} was destroyed by ${renderRunLink(destroyedBy)}`;
  return last
    ? html`${destroyed}. Filled in from its last deployment, ${renderRunLink(last.id)}: version ${last.template_version}. Nothing starts until you press Run.`
    : html`${destroyed}. The values of its last deployment are no longer kept, so this form is not filled in with them.`;
}
