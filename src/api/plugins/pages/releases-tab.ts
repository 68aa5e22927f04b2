import { renderCopiedId } from '#api/web/components/copied.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { parseManifest } from '#domain/plugins/manifests/manifest.ts';
import { findRelease, type ReleaseDetails } from '#domain/plugins/manifests/store.ts';
import type { Manifest } from '#domain/plugins/model.ts';
import { listReleases } from '../release-operations.ts';
import { renderEffects } from './actions-tab.ts';
import { renderRoots } from './roots.ts';
import { active, describeSelectors, type PluginVisit, type ShownPlugin } from './views.ts';

/** The releases of the installation, or the declarations of the release that the address names. */
export async function renderReleases(visit: PluginVisit, plugin: ShownPlugin): Promise<Html> {
  const wanted = visit.query('release');
  if (wanted === undefined) return renderList(visit, plugin);
  const release = await findRelease(visit.em, plugin.id, wanted);
  const back = html`<p><a href="${pagePath(pages.plugin, { id: plugin.id }, { tab: 'releases' })}">All releases</a></p>`;
  return html`${back}${release ? renderRelease(plugin, release) : html`<div class="list-panel">${renderEmpty('No such release', html`The plugin knows no release <code class="foreign">${wanted}</code>.`)}</div>`}`;
}

async function renderList(visit: PluginVisit, { id, active_release }: ShownPlugin): Promise<Html> {
  const cursor = visit.query('cursor');
  const { manifests, next_cursor: next } = await visit.read(listReleases, { params: { id }, query: { cursor } });
  const columns: readonly Column<(typeof manifests)[number]>[] = [
    {
      label: 'Release',
      kind: 'main',
      cell: ({ release }) =>
        html`<a class="foreign mono" href="${pagePath(pages.plugin, { id }, { tab: 'releases', release })}">${release}</a>`,
    },
    {
      label: 'State',
      cell: ({ release }) =>
        release === active_release ? renderStatusBadge(active) : html`<span class="muted">known</span>`,
    },
    { label: 'Manifest', cell: ({ manifest }) => (manifest === null ? 'only its digest is known' : 'staged') },
    { label: 'Digest', cell: ({ release, digest }) => renderCopiedId(`the digest of ${release}`, digest) },
    { label: 'Staged', cell: ({ staged_at: at }) => renderTime(String(at)) },
  ];
  return html`<div class="list-panel">${
    manifests.length > 0
      ? renderTable({ caption: 'Releases, newest first', rows: manifests, columns })
      : renderEmpty('No releases', 'Releases appear once their manifest or digest is staged.')
  }</div>
${renderPages({ cursor, next }, (query) => pagePath(pages.plugin, { id }, { tab: 'releases', ...query }))}`;
}

function renderRelease({ active_release }: ShownPlugin, { release, digest, manifest, stagedAt }: ReleaseDetails): Html {
  return html`<section class="stack" aria-labelledby="release"><h2 class="foreign" id="release">Release ${release}</h2>
<div class="panel">${renderFacts([
    [
      'State',
      release === active_release ? renderStatusBadge(active) : 'known: it counts for nothing until it is activated',
    ],
    ['Digest', renderCopiedId(`the digest of ${release}`, digest)],
    ['Staged', renderTime(stagedAt)],
    ['Manifest', manifest === null ? 'only its digest is known' : `${manifest.length} bytes`],
  ])}</div></section>
${manifest === null ? null : renderManifest(parseManifest(manifest))}`;
}

function renderManifest({ actions, executions, resources }: Manifest): Html {
  return html`${renderPart('Actions', actions, [
    { label: 'Action', kind: 'main', cell: ({ name }) => html`<code class="foreign">${name}</code>` },
    { label: 'On', cell: ({ selectors }) => describeSelectors(selectors) },
    { label: 'Effects', cell: ({ effects }) => renderEffects(effects) },
  ])}
${renderPart('Executions', executions, [
  { label: 'Execution', kind: 'main', cell: ({ name }) => html`<code class="foreign">${name}</code>` },
  { label: 'Uses the action', cell: ({ action }) => html`<code class="foreign">${action}</code>` },
])}
${renderPart('Types of resources', resources, [
  { label: 'Type', kind: 'main', cell: ({ type }) => html`<code class="foreign">${type}</code>` },
  { label: 'Roots', cell: ({ roots }) => renderRoots(roots) },
])}`;
}

/** One part of a manifest under its heading. */
function renderPart<Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[]): Html {
  const id = `manifest-${title.toLowerCase().replaceAll(' ', '-')}`;
  return html`<section class="stack" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${
  rows.length > 0
    ? html`<div class="list-panel">${renderTable({ caption: `${title} that the release declares`, rows, columns })}</div>`
    : html`<p class="muted">The release declares none.</p>`
}</section>`;
}
