import type { FastifyReply } from 'fastify';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { list as listApprovals } from '#api/runs/approvals/inbox-operations.ts';
import { listAllRuns } from '#api/runs/lists/list-operations.ts';
import { operationWords } from '#api/runs/pages/labels.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { renderAge } from '#api/web/components/time.ts';
import { page } from '#api/web/declarations/area.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLive } from '#api/web/live/live.ts';
import { type LocalPath, pagePath, pages, type Query } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import { isSignedIn } from '#api/web/visit/signed-in.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { renderOutcomes } from './outcomes.ts';
import { renderFirstSteps } from './pages/first-steps.ts';

type Run = EncodedAnswerOf<typeof listAllRuns.responses>['runs'][number];

const shown = '8';

/**
 * The start page: running runs, waiting runs and whom they wait for, and recent failures. Visitors who are not signed in get the
 * sign-in page.
 */
export const startPage = page(
  'GET',
  pages.home,
  (visit) => (isSignedIn(visit.request) ? showStart(visit) : visit.redirect(pagePath(pages.login))),
  { isPublic: true },
);

async function showStart(visit: Visit): Promise<FastifyReply> {
  const scope = runScope(visit);
  const listRuns = (...status: string[]) => visit.read(listAllRuns, { query: { ...scope, status, limit: shown } });
  const isUpdate = visit.request.headers['hx-request'] !== undefined;
  const [active, waiting, failed, outcomes, firstSteps] = await Promise.all([
    listRuns('queued', 'running', 'canceling'),
    readWaiting(visit, scope),
    listRuns('failed', 'timed_out'),
    // Counting the runs of a month takes most of the time, and an update does not replace the chart.
    isUpdate ? null : renderOutcomes(visit, scope),
    isUpdate ? null : renderFirstSteps(visit, scope),
  ]);
  const { mine, others, othersNothing } = waiting;
  const all = [active.runs, others, failed.runs, mine].flat();
  const names = await readNames(visit.em, { environments: all.map((run) => run.environment_id) });
  const link = (query: Query) => pagePath(pages.runs, {}, { ...scopeQuery(visit.scope), ...query });
  const content = html`<div class="start">
${mine.length > 0 ? renderBox('Needs your approval', pagePath(pages.approvals, {}, scopeQuery(visit.scope)), mine, names, '') : null}
${renderBox('Running', link({ status: ['queued', 'running', 'canceling'] }), active.runs, names, 'Nothing is running.')}
${renderBox(mine.length > 0 ? 'Waiting for others' : 'Waiting', link({ status: ['pending_approval'] }), others, names, othersNothing)}
${renderBox('Recently failed', link({ status: ['failed', 'timed_out'] }), failed.runs, names, 'No failed runs.')}
</div>`;
  return visit.show({
    title: 'Home',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Home',
  actions: html`<div class="actions"><a class="button button-primary" href="${pagePath(pages.catalog, {}, scopeQuery(visit.scope))}">Run a template</a></div>`,
})}
${firstSteps}
${renderLive({ stream: pagePath(pages.runStream, {}, scope), address: visit.request.url, again: '30s' }, content)}
${outcomes}
</div>`,
  });
}

/** The query for the runs of the scope; without a scope, for all that the visitor may read. */
function runScope(visit: Visit): Query {
  const { teamId, organizationId } = visit.scope;
  return teamId === undefined && organizationId === undefined ? { scope: 'readable' } : scopeQuery(visit.scope);
}

/** How many waiting runs are read. */
const maxWaiting = 50;

/** The runs that wait for the visitor's decision, oldest first, and those that wait for others, newest first. */
async function readWaiting(visit: Visit, scope: Query) {
  const query = { ...scope, status: ['pending_approval'], limit: String(maxWaiting) };
  const { runs, next_cursor: next } = await visit.read(listAllRuns, { query });
  const ids = runs.map(({ id }) => id);
  const [mine, among] = await Promise.all([
    listMine(visit, { ...scopeQuery(visit.scope), limit: shown }),
    ids.length > 0 ? listMine(visit, { run_id: ids, limit: String(maxWaiting) }) : [],
  ]);
  const ofVisitor = new Set([...mine, ...among].map(({ id }) => id));
  const others = runs.filter(({ id }) => !ofVisitor.has(id)).slice(0, Number(shown));
  const othersNothing =
    next === null ? 'No plan waits.' : `The newest ${maxWaiting} plans that wait all need your approval.`;
  return { mine, others, othersNothing };
}

async function listMine(visit: Visit, query: Query): Promise<Run[]> {
  if (!visit.mayDo(listApprovals).allowed) return [];
  const { approvals } = await visit.read(listApprovals, { query });
  return approvals.map(({ run }) => run);
}

function renderBox(title: string, all: LocalPath, runs: readonly Run[], names: Names, nothing: string): Html {
  const id = `box-${title.toLowerCase().replaceAll(' ', '-')}`;
  return html`<section class="box" aria-labelledby="${id}">
<div class="page-head"><h2 id="${id}">${title}</h2>${runs.length > 0 ? html`<a href="${all}">All<span class="unseen">: ${title}</span></a>` : null}</div>
<div class="list-panel">${runs.length > 0 ? renderRuns(title, runs, names) : html`<p class="empty-line muted">${nothing}</p>`}</div>
</section>`;
}

function renderRuns(caption: string, runs: readonly Run[], names: Names): Html {
  return html`<ul class="briefs" role="list" aria-label="${caption}">${runs.map((run) => renderRun(run, names))}</ul>`;
}

/** A run in two lines: its operation and status; then where, by whom and when. */
function renderRun(run: Run, names: Names): Html {
  const environment = run.environment_id === null ? undefined : names.get(run.environment_id)?.name;
  return html`<li class="brief" data-row id="start-${run.id}">
<a class="brief-name foreign" href="${pagePath(pages.run, { id: run.id })}">${run.instance}</a>
${renderRunStatus(run)}
<p class="muted"><span class="foreign">${[operationWords[run.operation], environment, run.requested_by.name].filter(Boolean).join(' · ')}</span></p>
<p class="muted brief-when">${renderAge(run.created_at)}</p>
</li>`;
}
