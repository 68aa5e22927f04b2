import type { FastifyReply } from 'fastify';
import { renderAlert } from '#api/web/components/alerts.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPager } from '#api/web/components/table.ts';
import { submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLive } from '#api/web/live/live.ts';
import { maxNewer, renderNewer, timeBehind } from '#api/web/live/newer.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { listAllRuns } from '../../lists/list-operations.ts';
import type { ListedShownRun } from '../run-tab.ts';
import { readFilterChoices, renderFilters } from './filter-form.ts';
import { type ListAddress, listPath, readListAddress, toListQuery, withIds } from './filters.ts';
import { renderRuns } from './rows.ts';

interface ShownPage {
  readonly runs: readonly ListedShownRun[];
  readonly next_cursor: string | null;
}

/** Shows the runs that the visitor may read, newest first, and follows them. */
export async function showRuns(visit: Visit): Promise<FastifyReply> {
  const typed = readListAddress(visit);
  const listed = await submit(visit, [], async () => {
    const address = await withIds(visit, typed);
    return { address, page: await visit.read(listAllRuns, { query: toListQuery(address) }) };
  });
  if (listed.done) {
    const { address, page } = listed.result;
    return visit.show({ title: 'Runs', main: await renderList(visit, address, page) });
  }
  const { status, others } = listed.problems;
  return visit.show({ title: 'Runs', hasProblem: true, main: await renderRefused(visit, typed, others) }, status);
}

async function renderList(visit: Visit, address: ListAddress, page: ShownPage): Promise<Html> {
  // An update takes only the live part, so it needs no filters.
  const isUpdate = visit.request.headers['hx-request'] !== undefined;
  const [live, choices] = await Promise.all([
    renderLivePart(visit, address, page),
    isUpdate ? null : readFilterChoices(visit, address, page.runs),
  ]);
  return html`<div class="page page-wide">
${renderHead()}
${renderConfirmation(visit, pages.runs)}
${choices && renderFilters(address, choices)}
${live}
</div>`;
}

/** The list after an invalid filter: the page says why, and the visitor can correct the filter. */
async function renderRefused(visit: Visit, address: ListAddress, problems: readonly string[]): Promise<Html> {
  const choices = await readFilterChoices(visit, { ...address, scope: {} }, []);
  return html`<div class="page page-wide">
${renderHead()}
${renderAlert('refused', problems.join(' '))}
${renderFilters(address, choices)}
</div>`;
}

function renderHead(): Html {
  return renderPageHead({
    title: 'Runs',
    actions: html`<div class="actions"><a class="button button-primary" href="${pagePath(pages.catalog)}">${renderIcon('play')}New run</a></div>`,
  });
}

/** An update shows the same runs, as they are now. A line above says how many newer runs there are, with a link. */
async function renderLivePart(
  visit: Visit,
  address: ListAddress,
  { runs, next_cursor: next }: ShownPage,
): Promise<Html> {
  const { cursor } = address;
  const [names, newer] = await Promise.all([
    readNames(visit.em, {
      environments: runs.map((run) => run.environment_id),
      templates: runs.map((run) => run.template_id),
    }),
    countNewer(visit, address),
  ]);
  const until = address.until ?? (cursor === undefined ? timeBehind(runs[0]) : undefined);
  const pager = renderPager({
    first: cursor === undefined ? null : listPath(address),
    next: next === null ? null : listPath(address, { cursor: next }),
  });
  const { cursor: _, to: __, status: ___, ...watched } = toListQuery({ ...address, until: undefined });
  return renderLive(
    {
      stream: pagePath(pages.runStream, {}, watched),
      address: listPath(address, { ...(cursor && { cursor }), ...(until && { until }) }),
      again: '30s',
    },
    html`<div>${renderNewer(newer, listPath(address))}${runs.length > 0 ? renderRuns(runs, names) : renderNone(address)}</div>${pager}`,
  );
}

/** How many runs were admitted since the list was opened. 0 for a list whose period has an end. */
async function countNewer(visit: Visit, address: ListAddress): Promise<number> {
  const { until, filters } = address;
  if (until === undefined || filters.to !== undefined) return 0;
  const query = { ...toListQuery({ ...address, until: undefined, cursor: undefined }), from: until };
  const { runs } = await visit.read(listAllRuns, { query: { ...query, limit: String(maxNewer) } });
  return runs.length;
}

function renderNone(address: ListAddress): Html {
  const isFiltered = address.statuses.length > 0 || Object.keys(address.filters).length > 0;
  if (isFiltered) {
    const clear = listPath(address, { statuses: [], filters: {} });
    return renderEmpty(
      'No matching runs',
      'No run that you can see matches the filters.',
      html`<a class="button button-plain" href="${clear}">Show all runs</a>`,
    );
  }
  return renderEmpty(
    'No runs yet',
    'A run plans and applies a template. Choose one from the catalog to start.',
    html`<a class="button button-primary" href="${pagePath(pages.catalog)}">Open the catalog</a>`,
  );
}
