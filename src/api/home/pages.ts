import type { FastifyReply } from 'fastify';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { list as listApprovals } from '#api/runs/approvals/inbox-operations.ts';
import { listAllRuns } from '#api/runs/lists/list-operations.ts';
import { operationWords } from '#api/runs/pages/words.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLive } from '#api/web/live/live.ts';
import { type LocalPath, pagePath, pages, type Query } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import { isSignedIn } from '#api/web/visit/signed-in.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names-store.ts';
import { renderOutcomes } from './outcomes.ts';

type Run = EncodedAnswerOf<typeof listAllRuns.responses>['runs'][number];

const shown = '8';

/** Adds the start page: what runs, what waits and on whom, what failed lately. Visitors who are not signed in get the sign-in page. */
export function registerStart(addPage: AddPage): void {
  addPage(
    'GET',
    pages.home,
    (visit) => (isSignedIn(visit.request) ? showStart(visit) : visit.redirect(pagePath(pages.login))),
    { isPublic: true },
  );
}

async function showStart(visit: Visit): Promise<FastifyReply> {
  const scope = runScope(visit);
  const listRuns = (...status: string[]) => visit.read(listAllRuns, { query: { ...scope, status, limit: shown } });
  const [active, waiting, failed, mine, outcomes] = await Promise.all([
    listRuns('queued', 'running', 'canceling'),
    listRuns('pending_approval'),
    listRuns('failed', 'timed_out'),
    listMine(visit),
    renderOutcomes(visit, scope),
  ]);
  const all = [active.runs, waiting.runs, failed.runs, mine].flat();
  const others = waiting.runs.filter(({ id }) => !mine.some((run) => run.id === id));
  const names = await readNames(visit.em, { environments: all.map((run) => run.environment_id) });
  const link = (query: Query) => pagePath(pages.runs, {}, { ...scopeQuery(visit.scope), ...query });
  const content = html`<div class="start">
${mine.length > 0 ? renderBox('Waits for you', pagePath(pages.approvals), mine, names, '') : null}
${renderBox('Runs now', link({ status: ['queued', 'running', 'canceling'] }), active.runs, names, 'Nothing runs at the moment.')}
${renderBox(mine.length > 0 ? 'Waits for others' : 'Waits for approval', link({ status: ['pending_approval'] }), others, names, 'No plan waits for a decision.')}
${renderBox('Failed lately', link({ status: ['failed', 'timed_out'] }), failed.runs, names, 'No run has failed.')}
${outcomes}
</div>`;
  return visit.show({
    title: 'Start',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Start',
  actions: html`<div class="actions"><a class="button button-primary" href="${pagePath(pages.catalog, {}, scopeQuery(visit.scope))}">Run a template</a></div>`,
})}
${renderLive({ stream: pagePath(pages.runStream, {}, scope), address: visit.request.url }, content)}
</div>`,
  });
}

/** The runs of the scope; without one, all that the visitor may read. */
function runScope(visit: Visit): Query {
  const { teamId, organizationId } = visit.scope;
  return teamId === undefined && organizationId === undefined ? { scope: 'readable' } : scopeQuery(visit.scope);
}

async function listMine(visit: Visit): Promise<Run[]> {
  if (!visit.mayDo(listApprovals).allowed) return [];
  const { approvals } = await visit.read(listApprovals, { query: { limit: shown } });
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

/** A run in two lines: what it is and how it stands, then where, by whom and when. */
function renderRun(run: Run, names: Names): Html {
  const environment = run.environment_id === null ? undefined : names.get(run.environment_id)?.name;
  return html`<li class="brief" data-row id="start-${run.id}">
<a class="brief-name foreign" href="${pagePath(pages.run, { id: run.id })}">${run.instance}</a>
${renderRunStatus(run.status)}
<p class="muted"><span class="foreign">${[operationWords[run.operation], environment, run.requested_by.name].filter(Boolean).join(' · ')}</span></p>
<p class="muted brief-when">${renderAge(run.created_at)}</p>
</li>`;
}
