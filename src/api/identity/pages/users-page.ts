import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { renderAction } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import { fieldId, renderFormField, renderSummary } from '#api/web/forms/form.ts';
import { submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { capitalize } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { platformRoles } from '#domain/shared/vocabulary/roles.ts';
import { create, list } from '../user-operations.ts';
import type { ListedUserView } from '../user-views.ts';
import { userPath } from './user-frame.ts';

const any: Choice = { value: '', label: 'Any' };
const roles: readonly Choice[] = [any, ...platformRoles.map((value) => ({ value, label: capitalize(value) }))];
const states: readonly Choice[] = [any, { value: 'true', label: 'Enabled' }, { value: 'false', label: 'Disabled' }];

/** Shows the users of the installation to visitors who manage them. */
export async function showUsers(visit: Visit): Promise<FastifyReply> {
  const reading = visit.mayDo(list);
  if (!reading.allowed) return visit.show(pageWithoutUsers(), 403);
  const [q, role, enabled] = ['q', 'role', 'enabled'].map((name) => visit.query(name));
  const filters = { q, role, enabled };
  const cursor = visit.query('cursor');
  const listed = await submit(visit, ['q'], () => visit.read(list, { query: defined({ ...filters, cursor }) }));
  const isFiltered = Boolean(q || role || enabled);
  const page = {
    title: 'Users',
    hasProblem: !listed.done,
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Users',
  actions: html`<div class="actions">${renderAction(visit.mayDo(create), { label: 'New user', icon: 'plus', tone: 'primary', path: pagePath(pages.newUser) })}</div>`,
})}
${renderConfirmation(visit, pages.users)}
${renderFilters(filters, isFiltered)}
${listed.done ? renderPage(listed.result, filters, cursor) : renderSummary(listed.problems, [{ name: 'q', label: textLabel }])}
</div>`,
  };
  return visit.show(page, listed.done ? 200 : listed.problems.status);
}

function pageWithoutUsers(): Page {
  return {
    title: 'Users',
    main: html`<div class="page">
${renderPageHead({ title: 'Users' })}
<div class="list-panel">${renderEmpty(
      'Only administrators see all users',
      'Administrators of the installation manage its users. You find the people that you work with among the members of your organizations.',
      html`<a class="button button-plain" href="${pagePath(pages.organizations)}">Show organizations</a>`,
    )}</div>
</div>`,
  };
}

type ListedUser = z.input<typeof ListedUserView>;

function renderPage(
  { users, next_cursor: next }: { readonly users: readonly ListedUser[]; readonly next_cursor: string | null },
  filters: Filters,
  cursor: string | undefined,
): Html {
  const isFiltered = Object.values(filters).some(Boolean);
  return html`${users.length > 0 ? renderUsers(users) : renderEmpty('No users found', isFiltered ? 'No user matches these filters.' : 'There are no users yet.')}
${renderPages({ cursor, next }, (query) => pagePath(pages.users, {}, { ...filters, ...query }))}`;
}

const textLabel = 'Name or e-mail address';

type Filters = Readonly<Record<'q' | 'role' | 'enabled', string | undefined>>;

function renderFilters({ q, role, enabled }: Filters, isFiltered: boolean): Html {
  return html`<form class="filters" method="get" action="${pagePath(pages.users)}" role="search" aria-label="Users">
<div class="field"><label for="${fieldId('q')}">${textLabel}</label><input id="${fieldId('q')}" name="q" type="search" value="${q ?? ''}" maxlength="100" autocomplete="off" spellcheck="false" data-key="f"></div>
${renderFormField({ name: 'role', label: 'Role', kind: 'select', choices: roles, value: role })}
${renderFormField({ name: 'enabled', label: 'State', kind: 'select', choices: states, value: enabled })}
<button class="button" type="submit">Filter</button>
${isFiltered ? html`<a class="button button-plain" href="${pagePath(pages.users)}">Clear</a>` : null}
</form>`;
}

function renderUsers(users: readonly ListedUser[]): Html {
  return html`<div class="list-panel">${renderTable({
    caption: 'Users',
    rows: users,
    columns: [
      { label: 'Name', kind: 'main', cell: (row) => html`<a class="foreign" href="${userPath(row)}">${row.name}</a>` },
      {
        label: 'E-mail address',
        cell: ({ email, email_verified: isVerified }) =>
          html`<span class="foreign">${email}</span>${isVerified ? null : html` <span class="badge">not confirmed</span>`}`,
      },
      { label: 'Role', cell: ({ role }) => role && capitalize(role) },
      { label: 'State', cell: ({ enabled }) => renderState(enabled) },
      { label: 'Created', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
    ],
  })}</div>`;
}

export function renderState(isEnabled: boolean): Html {
  return isEnabled
    ? renderStatusBadge({ word: 'Enabled', icon: 'circle-check', tone: 'succeeded' })
    : renderStatusBadge({ word: 'Disabled', icon: 'ban', tone: 'canceled' });
}

function defined(query: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}
