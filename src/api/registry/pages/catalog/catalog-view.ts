import { renderAction } from '#api/web/components/actions.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { renderEmpty, renderPager } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { fieldId, renderSummary } from '#api/web/forms/form.ts';
import type { FormProblems } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Action } from '#domain/shared/actions.ts';
import { executorWords } from '../executors.ts';
import type { NameOwner } from '../owners.ts';
import type { ListedTemplate } from '../views.ts';
import { type CatalogFilter, withTags } from './filter.ts';

const shownTags = 4;

/** One template of the catalog. */
function renderCard(template: ListedTemplate, filter: CatalogFilter, owner: string): Html {
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

export interface Catalog {
  readonly templates: readonly ListedTemplate[];
  readonly nameOwner: NameOwner;
  readonly filter: CatalogFilter;
  /** The environment to deploy to; null if the visitor has not chosen one yet. */
  readonly environment: { readonly id: string; readonly name: string; readonly team_id: string } | null;
  readonly mayCreate: Action;
  readonly confirmation: Html | null;
  /** Why the filters were refused; null if they were not. */
  readonly problems: FormProblems | null;
  readonly pager: { readonly first: LocalPath | null; readonly next: LocalPath | null };
}

const maxTags = 12;
const textLabel = 'Name or description';

export function catalogPage(catalog: Catalog): Page {
  const { templates, nameOwner, mayCreate, pager, confirmation, problems, filter } = catalog;
  const path = newTemplatePath(catalog);
  const actions = html`<div class="actions">${renderAction(mayCreate, { label: 'New template', icon: 'plus', path })}</div>`;
  const head = headOf(catalog);
  return {
    title: head.title,
    hasProblem: problems !== null,
    main: html`<div class="page page-wide">
${renderPageHead({ ...head, actions })}
${confirmation}
${renderFilters(catalog)}
${
  problems
    ? renderSummary(problems, [{ name: 'q', label: textLabel }])
    : templates.length > 0
      ? html`<ul class="cards" aria-label="Templates">${templates.map((template) => renderCard(template, filter, nameOwner(template.team_id)))}</ul>`
      : renderNothing(catalog)
}
${renderPager(pager)}
</div>`,
  };
}

function headOf({ environment }: Catalog) {
  if (!environment) return { title: 'Catalog', below: 'Templates that you can deploy.' };
  const path = pagePath(pages.environment, { id: environment.id });
  const below = html`Templates that can run in the environment <a class="foreign" href="${path}">${environment.name}</a>. <a href="${pagePath(pages.catalog)}">Show the whole catalog</a>`;
  return { title: `Deploy to ${environment.name}`, below };
}

function newTemplatePath({ environment, filter }: Catalog): LocalPath {
  return pagePath(pages.newTemplate, {}, environment ? { team_id: environment.team_id } : filter.scope);
}

function renderFilters(catalog: Catalog): Html {
  const { filter } = catalog;
  const kept = Object.entries(filter.scope).map(([name, value]) => [name, String(value)] as const);
  const tags = filter.tags.map((tag) => ['tag', tag] as const);
  return html`<form class="filters" action="${pagePath(pages.catalog)}" method="get" role="search" aria-label="Templates">
${[...kept, ...tags].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="field filter-text"><label for="${fieldId('q')}">${textLabel}</label><input type="search" id="${fieldId('q')}" name="q" value="${filter.q}" maxlength="100" data-key="f" data-key-says="Search the catalog" autocomplete="off" spellcheck="false"></div>
<label class="choice"><input type="checkbox" name="archived" value="true" ${filter.isArchived ? html`checked` : null}> <span>Archived</span></label>
<button class="button" type="submit">${renderIcon('search')}Search</button>
</form>
${renderTags(catalog)}`;
}

/** Tags as links: a click removes a selected tag, and adds a tag of the templates that are shown. */
function renderTags({ templates, filter }: Catalog): Html | null {
  const counts = new Map<string, number>();
  for (const tag of templates.flatMap(({ tags }) => tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const others = [...counts].filter(([tag]) => !filter.tags.includes(tag)).sort(([, a], [, b]) => b - a);
  const offered = others.slice(0, maxTags).map(([tag]) => tag);
  if (filter.tags.length + offered.length === 0) return null;
  return html`<nav aria-label="Tags"><ul class="chips">${filter.tags.map(
    (tag) =>
      html`<li><a class="chip" aria-current="true" href="${withTags(
        filter,
        filter.tags.filter((each) => each !== tag),
      )}">${renderIcon('x')}<span class="foreign">${tag}</span><span class="unseen">: show templates without this tag too</span></a></li>`,
  )}${offered.map(
    (tag) =>
      html`<li><a class="chip" href="${withTags(filter, [...filter.tags, tag])}">${renderIcon('tag')}<span class="foreign">${tag}</span></a></li>`,
  )}</ul></nav>`;
}

function renderNothing(catalog: Catalog): Html {
  const { q, tags, isArchived, scope } = catalog.filter;
  if (q || tags.length > 0)
    return renderEmpty(
      'No matching templates',
      'Try other words or fewer tags.',
      html`<a class="button" href="${pagePath(pages.catalog, {}, scope)}">Show all templates</a>`,
    );
  if (isArchived)
    return renderEmpty('No archived templates', 'Archived templates take no new versions and no new runs.');
  const first = html`<a class="button button-primary" href="${newTemplatePath(catalog)}">New template</a>`;
  return renderEmpty(
    'No templates yet',
    'A template is what you deploy: OpenTofu code or commands, with a form for its variables.',
    catalog.mayCreate.allowed ? first : null,
  );
}
