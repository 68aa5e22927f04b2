import type { FastifyReply } from 'fastify';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import type { Column } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { type ListPage, showList } from '#api/web/visit/list-page.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { describeSchedule } from '#domain/shared/schedules/describe-schedule.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { create, list } from '../operations.ts';
import {
  type ListedSchedule,
  readWorkNames,
  renderOutcome,
  renderPaused,
  renderWork,
  schedulePath,
} from './schedule-view.ts';

/** The schedules that the visitor may read, in the scope of the address. */
export async function showSchedules(visit: Visit): Promise<FastifyReply> {
  const scope = scopeQuery(visit.scope);
  const cursor = visit.query('cursor');
  const held = heldQuery(visit);
  const page = await visit.read(list, { query: { ...scope, ...held, ...(cursor && { cursor }) } });
  const { schedules, next_cursor: next } = page;
  const names = await readWorkNames(visit, schedules);
  const mayCreate = visit.mayDo(create, ...(await readTeamsForNewInScope(visit)));
  return showList(visit, {
    title: 'Schedules',
    page: pages.schedules,
    kept: { ...scope, ...held },
    create: [mayCreate, 'New schedule', pagePath(pages.newSchedule, {}, scope)],
    above: renderHolder(held, schedules),
    rows: schedules,
    columns: columnsOf(names),
    next,
    empty: emptyOf(held),
  });
}

/** Reads the filter from the address: the account under whose authority schedules run, or the key or session with which they were saved. */
function heldQuery(visit: Visit): { authority_id?: string; credential_id?: string } {
  const [authority, credential] = [visit.query('authority_id'), visit.query('credential_id')];
  return { ...(authority && { authority_id: authority }), ...(credential && { credential_id: credential }) };
}

type Held = ReturnType<typeof heldQuery>;

/** Says that the list does not contain all schedules. */
function renderHolder(held: Held, [first]: readonly ListedSchedule[]): Html | null {
  if (Object.keys(held).length === 0) return null;
  const who = first ? html`<span class="foreign">${first.authority.name}</span>` : 'this user or account';
  const which = held.credential_id
    ? 'Schedules whose work was saved with one API key or in one session.'
    : html`Schedules that run as ${who}.`;
  return html`<p class="muted">${which} <a href="${pagePath(pages.schedules)}">Show all schedules</a></p>`;
}

function columnsOf(names: Names): Column<ListedSchedule>[] {
  return [
    {
      label: 'Name',
      kind: 'main',
      cell: (schedule) => html`<a class="foreign" href="${schedulePath(schedule)}">${schedule.name}</a>`,
    },
    { label: 'When', cell: ({ schedule }) => describeSchedule(schedule) },
    { label: 'Starts', cell: (schedule) => renderWork(schedule, names) },
    {
      label: 'Next',
      cell: (schedule) => {
        const [next] = schedule.next_times;
        return renderPaused(schedule) ?? (next ? renderTime(String(next)) : null);
      },
    },
    {
      label: 'Last result',
      cell: ({ last_results: [last] }) => (last ? renderOutcome(last) : html`<span class="muted">none yet</span>`),
    },
    {
      label: 'Team',
      kind: 'minor',
      cell: ({ team_id: id }) => html`<span class="foreign">${names.get(id)?.name ?? id}</span>`,
    },
  ];
}

function emptyOf(held: Held): ListPage<ListedSchedule>['empty'] {
  if (Object.keys(held).length > 0) return ['No matching schedules', 'No schedules that you can see.'];
  return [
    'No schedules yet',
    'A schedule starts a run of a template or an assembly at regular times, such as a destroy every evening or an apply every Monday.',
    html`<a class="button" href="${pagePath(pages.environments)}">Show environments</a>`,
  ];
}
