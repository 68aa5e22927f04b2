import type { FastifyReply } from 'fastify';
import { renderChips, withAll } from '#api/web/components/chips.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { capitalize } from '#api/web/text.ts';
import { showList } from '#api/web/visit/list-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { list } from '../operations.ts';
import { accountPath, mayCreateAccount, readOwnerNames, renderOwner } from './account-frame.ts';

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
  const names = await readOwnerNames(visit, accounts);
  return showList(visit, {
    title: 'Service accounts',
    below: 'Programs that use this service with API keys and a role of their own.',
    page: pages.serviceAccounts,
    kept,
    create: [
      mayCreateAccount(visit),
      'New service account',
      pagePath(pages.newServiceAccount, {}, scopeQuery(visit.scope)),
    ],
    above: renderChips('Filter by state', chips, chips.find(({ value }) => value === enabled)?.value, (each) =>
      pagePath(pages.serviceAccounts, {}, { ...kept, enabled: each }),
    ),
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
    next,
    empty:
      enabled === undefined
        ? [
            'No service accounts',
            'You see your own, and those of teams that you own. Create one for each program, so that each has its own keys and history.',
          ]
        : ['No matching service accounts', 'No service account that you may manage is in this state.'],
  });
}

/** Whether a principal is enabled. */
export function renderEnabled(isEnabled: boolean): Html {
  return isEnabled
    ? renderStatusBadge({ word: 'Enabled', icon: 'circle-check', tone: 'succeeded' })
    : renderStatusBadge({ word: 'Disabled', icon: 'ban', tone: 'canceled' });
}
