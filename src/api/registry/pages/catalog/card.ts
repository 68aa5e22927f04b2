import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { executorWords } from '../executors.ts';
import type { ListedTemplate } from '../shown.ts';
import { type CatalogFilter, withTags } from './filter.ts';

const shownTags = 4;

/** One template of the catalog. */
export function renderCard(template: ListedTemplate, filter: CatalogFilter, owner: string): Html {
  const { id, name, description, tags, latest_version: version, executor, last_run: last } = template;
  return html`<li class="tile" data-row>
<div class="tile-head"><h2 class="tile-title"><a class="foreign" href="${pagePath(pages.template, { id }, filter.scope)}">${name}</a></h2>${
    template.archived_at ? html`<span class="badge">Archived</span>` : null
  }</div>
<p class="tile-text foreign">${description || html`<span class="muted">No description</span>`}</p>
${
  tags.length > 0
    ? html`<ul class="chips" aria-label="Tags of ${name}">${tags.slice(0, shownTags).map((tag) => html`<li><a class="chip chip-small foreign" href="${withTags(filter, [...new Set([...filter.tags, tag])])}">${tag}</a></li>`)}${
        tags.length > shownTags ? html`<li class="muted">+${tags.length - shownTags}</li>` : null
      }</ul>`
    : null
}
<dl class="tile-facts">
<div><dt class="unseen">Owner</dt><dd>${renderIcon('users')}<span class="foreign">${owner}</span></dd></div>
<div><dt class="unseen">Latest version</dt><dd>${renderIcon('tag')}${version ?? 'Not published'}${executor ? html` · ${executorWords[executor]}` : null}</dd></div>
<div><dt class="unseen">Last run</dt><dd>${
    last
      ? html`<a class="quiet" href="${pagePath(pages.run, { id: last.id })}">${renderRunStatus(last)}</a> <span class="muted">${renderAge(last.created_at)}</span>`
      : html`<span class="muted">${renderIcon('play')}No runs yet</span>`
  }</dd></div>
</dl></li>`;
}
