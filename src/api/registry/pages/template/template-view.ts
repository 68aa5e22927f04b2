import { renderActions } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { renderEmpty } from '#api/web/components/table.ts';
import { renderAge, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { renderMarkdown } from '#api/web/markdown.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { renderCheckState } from '../check-view.ts';
import { executorWords } from '../executors.ts';
import { renderFit } from '../version/fit-view.ts';
import { renderVariables } from '../version/variables-table.ts';
import type { ShownTemplate, ShownVersion } from '../views.ts';
import type { TemplatePage } from './template-facts.ts';
import { renderVersions } from './versions-table.ts';

export function templatePage(shown: TemplatePage): Page {
  const { template, latest, owner, confirmation, environmentId } = shown;
  const place = { environment_id: environmentId };
  const { name, description, tags } = template;
  return {
    title: name,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: name,
  crumbs: [{ label: 'Catalog', path: pagePath(pages.catalog, {}, place) }],
  beside: template.archived_at ? html`<span class="badge">Archived</span>` : null,
  below: description ? html`<span class="foreign prewrap">${description}</span>` : null,
  actions: renderTemplateActions(template, place),
  history: ['templates', template.id],
})}
${confirmation}
${tags.length > 0 ? html`<ul class="chips" aria-label="Tags">${tags.map((tag) => html`<li><a class="chip foreign" href="${pagePath(pages.catalog, {}, { tag })}">${renderIcon('tag')}${tag}</a></li>`)}</ul>` : null}
<div class="beside">
<div class="beside-main">
${template.readme.trim() ? html`<section class="panel" aria-label="Readme">${renderMarkdown(template.readme, 2)}</section>` : null}
${latest ? renderLatest(latest) : renderUnpublished(template)}
${renderVersions(shown)}
</div>
<aside class="beside-side" aria-label="About the template">
<section class="panel">${renderFacts([
      ['Owner', html`<span class="foreign">${owner}</span>`],
      [
        'Latest',
        latest
          ? html`<a href="${pagePath(pages.templateVersion, { id: template.id, version: latest.version }, place)}">${latest.version}</a>`
          : 'Not published',
      ],
      ['Check', latest ? renderCheckState(latest) : null],
      ['Executor', latest ? executorWords[latest.executor] : null],
      ...renderFit(latest?.workers ?? null),
      ['Slug', html`<code class="foreign">${template.slug}</code>`],
      ['Created', renderTime(template.created_at)],
      ['Archived', template.archived_at ? renderTime(template.archived_at) : null],
    ])}</section>
${renderTemplateRuns(shown)}
</aside>
</div>
</div>`,
  };
}

function renderTemplateActions({ id, actions, archived_at: archivedAt }: ShownTemplate, place: Query): Html {
  const hidden = archivedAt === null ? 'unarchive' : 'archive';
  return renderActions(
    actions.filter(({ name }) => name !== hidden),
    {
      run: { label: 'Run', icon: 'play', tone: 'primary', path: pagePath(pages.newRun, { id }, place) },
      publish: { label: 'Publish a version', icon: 'rocket', path: pagePath(pages.publishVersion, { id }) },
      update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editTemplate, { id }) },
      archive: { label: 'Archive', icon: 'archive', path: pagePath(pages.archiveTemplate, { id }) },
      unarchive: { label: 'Unarchive', icon: 'archive', path: pagePath(pages.unarchiveTemplate, { id }) },
      delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteTemplate, { id }) },
    },
  );
}

function renderLatest(latest: ShownVersion): Html {
  return html`<section class="stack" aria-labelledby="variables"><h2 id="variables">Variables of ${latest.version}</h2>
${renderVariables(latest.spec)}</section>`;
}

function renderUnpublished({ id, actions }: ShownTemplate): Html {
  const mayPublish = actions.some(({ name, allowed }) => name === 'publish' && allowed);
  const action = mayPublish
    ? html`<a class="button button-primary" href="${pagePath(pages.publishVersion, { id })}">Publish a version</a>`
    : null;
  return html`<div class="list-panel">${renderEmpty('No version published yet', 'You can run a template once it has a published version.', action)}</div>`;
}

/** The newest runs of a template that the visitor may read, with a link to all of them. */
function renderTemplateRuns({
  template,
  runs,
  nameEnvironment,
}: Pick<TemplatePage, 'template' | 'runs' | 'nameEnvironment'>): Html {
  const all = pagePath(pages.runs, {}, { template_id: template.id, scope: 'readable' });
  return html`<section class="panel stack" aria-labelledby="runs"><h2 id="runs">Recent runs</h2>
${
  runs.length === 0
    ? html`<p class="muted">No runs that you can see.</p>`
    : html`<ul class="brief-rows">${runs.map(
        (run) => html`<li>${renderRunStatus(run)}
<a class="foreign" href="${pagePath(pages.run, { id: run.id })}">${run.instance}</a>
<span class="muted">${run.operation === 'apply' ? null : html`${run.operation} · `}<span class="foreign">${nameEnvironment(run.environment_id)}</span> ${renderAge(run.created_at)}</span></li>`,
      )}</ul>
<p><a href="${all}">All runs</a></p>`
}</section>`;
}
