import type { FastifyReply } from 'fastify';
import { archivedQuery, isArchive, renderArchiveTabs } from '#api/tenancy/pages/views.ts';
import { renderTime } from '#api/web/components/time.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { capitalize } from '#api/web/text.ts';
import { type ListPage, showList } from '#api/web/visit/list-page.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { create, list } from '../operations.ts';
import { organizationPath } from './organization-frame.ts';

/** Shows the visitor's organizations, or all of them to an administrator. */
export async function showOrganizations(visit: Visit): Promise<FastifyReply> {
  const isArchived = isArchive(visit);
  const cursor = visit.query('cursor');
  const query = { archived: String(isArchived), ...(cursor && { cursor }) };
  const { organizations, next_cursor: next } = await visit.read(list, { query });
  return showList(visit, {
    title: 'Organizations',
    page: pages.organizations,
    kept: archivedQuery(isArchived),
    create: [visit.mayDo(create), 'New organization', pagePath(pages.newOrganization)],
    above: renderArchiveTabs(pagePath(pages.organizations), isArchived),
    rows: organizations,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: (row) => html`<a class="foreign" href="${organizationPath(row)}">${row.name}</a>`,
      },
      { label: 'Slug', cell: ({ slug }) => html`<span class="mono">${slug}</span>` },
      { label: 'Your role', cell: ({ id }) => capitalize(visit.principal.organizations[id] ?? 'not a member') },
      { label: 'Created', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
    next,
    empty: emptyOf(isArchived, Boolean(cursor)),
  });
}

function emptyOf(isArchived: boolean, isLater: boolean): ListPage<never>['empty'] {
  if (isLater) return ['No more organizations', 'You have seen all organizations.'];
  if (isArchived) return ['No archived organizations', 'Archived organizations stay here until they are deleted.'];
  return [
    'You are not in an organization yet',
    'An organization contains teams, which own projects and environments. Create one, or ask the admin of one to invite you by your e-mail address.',
  ];
}
