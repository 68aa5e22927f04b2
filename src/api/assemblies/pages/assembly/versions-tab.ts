import type { FastifyReply } from 'fastify';
import { renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { renderAgeByDay } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { list } from '../../version-operations.ts';
import { type AssemblySubject, type AssemblyVisit, assemblyTabPath, type ListedVersion } from '../shown.ts';
import { assemblyPage } from './frame.ts';

export async function showVersionsTab(visit: AssemblyVisit, assembly: AssemblySubject): Promise<FastifyReply> {
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
