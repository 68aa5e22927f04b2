import type { FastifyReply } from 'fastify';
import { renderEmpty } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { get as getVersion } from '../../version-operations.ts';
import { showCompare } from '../compare/compare-tab.ts';
import { graphScript } from '../graph-view.ts';
import { type AssemblySubject, type AssemblyVisit, readAssembly } from '../shown.ts';
import { assemblyPage, mayWrite } from './frame.ts';
import { showRunsTab } from './runs-tab.ts';
import { renderVersion, renderVersionFacts } from './version-view.ts';
import { showVersionsTab } from './versions-tab.ts';

/** Shows one tab of an assembly. */
export async function showAssembly(visit: AssemblyVisit): Promise<FastifyReply> {
  const assembly = await readAssembly(visit);
  const tab = visit.query('tab');
  if (tab === 'versions') return showVersionsTab(visit, assembly);
  if (tab === 'compare') return showCompare(visit, assembly);
  if (tab === 'runs') return showRunsTab(visit, assembly);
  return visit.show(
    assemblyPage(visit, assembly, 'overview', await renderOverview(visit, assembly), { scripts: [graphScript] }),
  );
}

async function renderOverview(visit: AssemblyVisit, assembly: AssemblySubject): Promise<Html> {
  const { id, latest_version: latest } = assembly;
  if (latest === null) return html`<div class="list-panel">${renderNothing(assembly)}</div>`;
  const version = await visit.read(getVersion, { params: { id, version: latest } });
  return html`${await renderVersion(visit, version)}
<section class="panel stack" aria-labelledby="latest"><h2 id="latest">Version <a href="${pagePath(pages.assemblyVersion, { id, version: latest })}">${latest}</a></h2>
${renderVersionFacts(version)}</section>`;
}

function renderNothing(assembly: AssemblySubject): Html {
  if (!mayWrite(assembly))
    return renderEmpty('No version published yet', 'You can run it once a version is published.');
  return renderEmpty(
    'No version published yet',
    'Write a draft that lists the templates and how they use each other’s outputs. Then publish it as a version.',
    html`<a class="button button-primary" href="${pagePath(pages.assemblyDraft, { id: assembly.id })}">Write the draft</a>`,
  );
}
