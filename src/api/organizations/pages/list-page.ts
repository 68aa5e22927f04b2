import type { FastifyReply } from 'fastify';
import { renderArchiveTabs } from '#api/tenancy/pages/views.ts';
import { renderAction } from '#api/web/components/actions.ts';
import { renderNews } from '#api/web/components/news.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { capitalize } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { create, list } from '../operations.ts';
import { organizationPath } from './organization-frame.ts';

/** Shows the visitor's organizations, or all of them to an administrator. */
export async function showOrganizations(visit: Visit): Promise<FastifyReply> {
  const isArchived = visit.query('archived') === 'true';
  const cursor = visit.query('cursor');
  const query = { archived: String(isArchived), ...(cursor && { cursor }) };
  const { organizations, next_cursor: next } = await visit.read(list, { query });
  const path = pagePath(pages.organizations);
  const archived = isArchived ? { archived: 'true' } : {};
  const table = renderTable({
    caption: 'Organizations',
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
  });
  return visit.show({
    title: 'Organizations',
    main: html`<div class="page page-wide">
${renderPageHead({ title: 'Organizations', actions: renderNewButton(visit) })}
${renderNews(visit, pages.organizations)}
${renderArchiveTabs(path, isArchived)}
${organizations.length > 0 ? html`<div class="list-panel">${table}</div>` : renderNone(isArchived, Boolean(cursor))}
${renderPages({ cursor, next }, (query) => pagePath(pages.organizations, {}, { ...archived, ...query }))}
</div>`,
  });
}

function renderNewButton(visit: Visit): Html {
  const button = {
    label: 'New organization',
    icon: 'plus',
    tone: 'primary',
    path: pagePath(pages.newOrganization),
  } as const;
  return html`<div class="actions">${renderAction(visit.mayDo(create), button)}</div>`;
}

function renderNone(isArchived: boolean, isLater: boolean): Html {
  if (isLater) return renderEmpty('No more organizations', 'You have seen all organizations.');
  if (isArchived)
    return renderEmpty('No archived organizations', 'Archived organizations stay here until they are deleted.');
  return renderEmpty(
    'You are not in an organization yet',
    'An organization contains teams, which own projects and environments. Create one, or ask the admin of one to invite you by your e-mail address.',
  );
}
