import type { FastifyReply } from 'fastify';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { renderAction } from '#api/web/components/actions.ts';
import { renderNews } from '#api/web/components/news.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { type Column, renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { describeSchedule } from '#domain/shared/schedules/words.ts';
import type { Names } from '#domain/tenancy/names-store.ts';
import { create, list } from '../operations.ts';
import { type ListedSchedule, readWorkNames, renderOutcome, renderPaused, renderWork, schedulePath } from './shown.ts';

/** The schedules that the visitor may read, in the scope of the address. */
export async function showSchedules(visit: Visit): Promise<FastifyReply> {
  const scope = scopeQuery(visit.scope);
  const cursor = visit.query('cursor');
  const page = await visit.read(list, { query: { ...scope, ...(cursor && { cursor }) } });
  const { schedules, next_cursor: next } = page;
  const names = await readWorkNames(visit, schedules);
  const mayCreate = visit.mayDo(create, ...(await readTeamsForNewInScope(visit)));
  const path = pagePath(pages.newSchedule, {}, scope);
  const button = renderAction(mayCreate, { label: 'New schedule', icon: 'plus', tone: 'primary', path });
  const table = renderTable({ caption: 'Schedules', rows: schedules, columns: columnsOf(names) });
  return visit.show({
    title: 'Schedules',
    main: html`<div class="page page-wide">
${renderPageHead({ title: 'Schedules', actions: html`<div class="actions">${button}</div>` })}
${renderNews(visit, pages.schedules)}
${schedules.length > 0 ? html`<div class="list-panel">${table}</div>` : renderNone()}
${renderPages({ cursor, next }, (query) => pagePath(pages.schedules, {}, { ...scope, ...query }))}
</div>`,
  });
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

function renderNone(): Html {
  return renderEmpty(
    'No schedules here',
    'A schedule starts a run of a template or of an assembly at set times, such as a destroy every evening or an apply every Monday.',
    html`<a class="button" href="${pagePath(pages.environments)}">See the environments that you may use</a>`,
  );
}
