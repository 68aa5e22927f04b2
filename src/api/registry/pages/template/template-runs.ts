import { renderRunStatus } from '#api/web/components/status.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { TemplatePage } from './template-facts.ts';

/** The newest runs of a template that the visitor may read, with a link to all of them. */
export function renderTemplateRuns({
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
