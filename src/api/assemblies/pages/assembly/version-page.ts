import type { FastifyReply } from 'fastify';
import { renderActions } from '#api/web/components/actions.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { get as getAssembly } from '../../operations.ts';
import { get as getVersion } from '../../version-operations.ts';
import { graphScript } from '../graph-view.ts';
import { assemblyCrumbs, assemblyTabPath } from '../views.ts';
import { renderVersion, renderVersionFacts } from './version-view.ts';

/** The maximum number of characters of a source on the page. The API returns all of it. */
const maxSource = 60_000;

/** Shows one version: its drawing and nodes, who published it, and its source. */
export async function showVersion(visit: Visit<{ id: string; version: string }>): Promise<FastifyReply> {
  const { id } = visit.params;
  const [assembly, version] = await Promise.all([
    visit.read(getAssembly, { params: { id } }),
    visit.read(getVersion, { params: visit.params }),
  ]);
  const { source } = version;
  return visit.show({
    title: `${assembly.name} ${version.version}`,
    scripts: [graphScript],
    main: html`<div class="page page-wide">
${renderPageHead({
  title: `${assembly.name} ${version.version}`,
  crumbs: assemblyCrumbs(assembly),
  actions: html`<div class="actions">
<a class="button button-plain" href="${assemblyTabPath(id, 'compare', { from: version.version, to: 'latest' })}">${renderIcon('git-branch')}Compare</a>
${renderActions(assembly.actions, {
  run: {
    label: 'Run this version',
    icon: 'play',
    tone: 'primary',
    path: pagePath(pages.runAssembly, { id }, { version: version.version }),
  },
})}</div>`,
})}
${await renderVersion(visit, version)}
<section class="panel stack" aria-labelledby="about"><h2 id="about">About this version</h2>${renderVersionFacts(version)}</section>
<div class="panel stack"><h2 id="source">Source</h2>
<pre class="code-block foreign" tabindex="0" aria-labelledby="source" role="region">${source.slice(0, maxSource)}</pre>
${source.length > maxSource ? html`<p class="muted">The first ${maxSource} of ${source.length} characters. The API has the rest.</p>` : null}</div>
</div>`,
  });
}
