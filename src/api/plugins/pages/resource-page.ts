import type { FastifyReply } from 'fastify';
import { copyScript, renderCopiedId } from '#api/web/components/copied.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get } from '../resource-operations.ts';
import type { viewResource } from '../resource-views.ts';
import { renderResourceState, toSelector } from './resources-tab.ts';
import { renderRoots } from './roots.ts';
import { pluginsCrumb, readPlaceNames, renderPlace } from './views.ts';

type Restoration = NonNullable<ReturnType<typeof viewResource>['restoration']>;

/** Shows a resource of a plugin, with its owner and the tables that contain its data. */
export async function showPluginResource(visit: Visit<{ id: string }>): Promise<FastifyReply> {
  const resource = await visit.read(get, { params: { id: visit.params.id } });
  const { id, name, type, key, roots, installation_id: plugin, deleted_at: deletedAt } = resource;
  const place = toSelector(resource);
  const names = await readPlaceNames(visit, [place]);
  const path = pagePath(pages.plugin, { id: plugin }, { tab: 'resources' });
  const assignments = pagePath(pages.plugin, { id: plugin }, { tab: 'assignments', place: id });
  return visit.show({
    title: name,
    scripts: [copyScript],
    main: html`<div class="page">
${renderPageHead({
  title: name,
  crumbs: [pluginsCrumb, { label: 'Resources of the plugin', path }],
  beside: renderResourceState(deletedAt !== null),
  below: html`Of ${renderPlace(place, names)}`,
  history: ['plugin_resources', id],
})}
<div class="panel">${renderFacts([
      ['Id', renderCopiedId('the id of the resource', id)],
      ['Type', html`<code class="foreign">${type}</code>`],
      ['Key', renderCopiedId('the key of the resource', key, 'foreign')],
      ['Roots', renderRoots(roots)],
      ['Revision', String(resource.revision)],
      ['Generation', `${resource.eligibility_generation}: what was assigned under an earlier one stays ended`],
      ['Registered', renderTime(String(resource.created_at))],
      ['Deleted', deletedAt === null ? null : renderTime(String(deletedAt))],
      ['Restoration', renderRestoration(resource.restoration)],
      ['Assignments', html`<a href="${assignments}">Of this resource alone</a>`],
    ])}</div>
</div>`,
  });
}

const restorationWords = { running: 'Running', restored: 'Restored', refused: 'Refused' } as const;

/** The latest request to restore a resource, and why it was refused. */
function renderRestoration(latest: Restoration | null): Html | null {
  if (!latest) return null;
  const { state, requested_at: at, problem } = latest;
  const why = problem && html`: <span class="foreign">${problem.message}</span>`;
  return html`${restorationWords[state]}, requested ${renderTime(String(at))}${why}`;
}
