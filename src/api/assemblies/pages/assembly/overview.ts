import type { FastifyReply } from 'fastify';
import { renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { renderAgeByDay } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { get as getVersion, list } from '../../version-operations.ts';
import { showCompare } from '../compare/compare-tab.ts';
import { graphScript } from '../graph-view.ts';
import {
  type AssemblySubject,
  type AssemblyVisit,
  assemblyTabPath,
  type ListedVersion,
  readAssembly,
} from '../views.ts';
import { assemblyPage, mayWrite } from './frame.ts';
import { showRunsTab } from './runs-tab.ts';
import { renderVersion, renderVersionFacts } from './version-view.ts';

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

async function showVersionsTab(visit: AssemblyVisit, assembly: AssemblySubject): Promise<FastifyReply> {
  const { id } = assembly;
  const cursor = visit.query('cursor');
  const { versions, next_cursor: next } = await visit.read(list, { params: { id }, query: { cursor } });
  const content = html`<div class="list-panel">${
    versions.length > 0
      ? renderVersions(id, versions)
      : renderEmpty('No versions yet', 'A version appears when the draft is published. It never changes.')
  }</div>
${renderPager({
  first: cursor ? assemblyTabPath(id, 'versions') : null,
  next: next ? assemblyTabPath(id, 'versions', { cursor: next }) : null,
})}`;
  return visit.show(assemblyPage(visit, assembly, 'versions', content));
}

function renderVersions(id: string, versions: readonly ListedVersion[]): Html {
  const before = new Map(versions.map(({ version }, index) => [version, versions[index + 1]?.version]));
  return renderTable({
    caption: 'Versions, the last published first',
    rows: versions,
    rowId: ({ version }) => `v-${version}`,
    columns: [
      {
        label: 'Version',
        kind: 'main',
        cell: ({ version }) => html`<a href="${pagePath(pages.assemblyVersion, { id, version })}">${version}</a>`,
      },
      { label: 'Nodes', kind: 'number', cell: ({ nodes }) => String(nodes) },
      {
        label: 'Changelog',
        cell: ({ changelog }) =>
          changelog ? html`<span class="foreign changelog">${changelog.slice(0, 400)}</span>` : null,
      },
      { label: 'Published by', cell: ({ published_by: by }) => html`<span class="foreign">${by.name}</span>` },
      { label: 'Published', cell: ({ created_at: at }) => renderAgeByDay(at) },
      {
        label: 'Compare',
        kind: 'minor',
        cell: ({ version }) => {
          const from = before.get(version);
          if (from === undefined) return null;
          return html`<a href="${assemblyTabPath(id, 'compare', { from, to: version })}">with ${from}</a>`;
        },
      },
    ],
  });
}
