import type { FastifyReply } from 'fastify';
import { renderAction } from '#api/web/components/actions.ts';
import { renderChips, withAll } from '#api/web/components/chips.ts';
import { renderNews } from '#api/web/components/news.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { capitalize } from '#api/web/text.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { list } from '../operations.ts';
import { accountPath, type ListedAccount, mayCreateAccount, readOwnerNames, renderOwner } from './account-frame.ts';

const states = { true: 'Enabled', false: 'Disabled' } as const;
const chips = withAll(['true', 'false'] as const, (each) => states[each]);

/** Shows the service accounts that the visitor may manage. If the scope is a team or an organization, those of its teams. */
export async function showAccounts(visit: Visit): Promise<FastifyReply> {
  const { organizationId, teamId } = visit.scope;
  const enabled = visit.query('enabled');
  const cursor = visit.query('cursor');
  const query = {
    ...(organizationId && { owner_organization_id: organizationId }),
    ...(teamId && { owner_team_id: teamId }),
    ...(enabled && { enabled }),
    ...(cursor && { cursor }),
  };
  const { service_accounts: accounts, next_cursor: next } = await visit.read(list, { query });
  const kept = { ...scopeQuery(visit.scope), enabled };
  const link = (more: Query) => pagePath(pages.serviceAccounts, {}, { ...kept, ...more });
  return visit.show({
    title: 'Service accounts',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Service accounts',
  below: 'Programs that use this service with API keys and a role of their own.',
  actions: renderNewButton(visit),
})}
${renderNews(visit, pages.serviceAccounts)}
${renderChips('Filter by state', chips, chips.find(({ value }) => value === enabled)?.value, (each) => link({ enabled: each }))}
${accounts.length > 0 ? await renderAccounts(visit, accounts) : renderNone(enabled)}
${renderPages({ cursor, next }, link)}
</div>`,
  });
}

async function renderAccounts(visit: Visit, accounts: readonly ListedAccount[]): Promise<Html> {
  const names = await readOwnerNames(visit, accounts);
  return html`<div class="list-panel">${renderTable({
    caption: 'Service accounts',
    rows: accounts,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: (row) => html`<a class="foreign" href="${accountPath(row)}">${row.name}</a>`,
      },
      { label: 'Role', cell: ({ role }) => capitalize(role) },
      { label: 'Owner', cell: (row) => renderOwner(row, names) },
      { label: 'State', cell: ({ enabled }) => renderEnabled(enabled) },
      { label: 'Created', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
  })}</div>`;
}

/** Whether a principal is enabled. */
export function renderEnabled(isEnabled: boolean): Html {
  return isEnabled
    ? renderStatusBadge({ word: 'Enabled', icon: 'circle-check', tone: 'succeeded' })
    : renderStatusBadge({ word: 'Disabled', icon: 'ban', tone: 'canceled' });
}

function renderNewButton(visit: Visit): Html {
  const path = pagePath(pages.newServiceAccount, {}, scopeQuery(visit.scope));
  const button = { label: 'New service account', icon: 'plus', tone: 'primary', path } as const;
  return html`<div class="actions">${renderAction(mayCreateAccount(visit), button)}</div>`;
}

function renderNone(enabled: string | undefined): Html {
  if (enabled !== undefined)
    return renderEmpty('No matching service accounts', 'No service account that you may manage is in this state.');
  return renderEmpty(
    'No service accounts',
    'You see your own, and those of teams that you own. Create one for each program, so that each has its own keys and history.',
  );
}
