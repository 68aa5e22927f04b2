import { getEvents } from '#api/runs/log-operations.ts';
import { getRun } from '#api/runs/operations.ts';
import { renderPlanCounts } from '#api/runs/pages/plan/counts.ts';
import { planPath } from '#api/runs/pages/plan/plan-address.ts';
import { mayApprove, renderAsked } from '#api/runs/pages/run/review-request.ts';
import { renderShortDetail } from '#api/runs/pages/run/status-detail.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { lookOfPending, needsApprovalLook } from '#api/web/components/status.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLinkedText } from '#api/web/linked-text.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { type AssemblyRunReason, assemblyRunReasons, isNodeEnded, type NodeStatus } from '#domain/assemblies/model.ts';
import { get as getNode } from '../../node-operations.ts';
import type { AssemblyRunVisit, ShownAssemblyRun } from '../views.ts';
import { type RunSubject, runPath } from './run-tab.ts';
import { renderTally } from './tally.ts';

/** How many nodes that need approval are listed at once. */
const maxListed = 10;

/** The progress of the run, why it waits, and why it ended. */
export async function renderSituation(visit: AssemblyRunVisit, { run }: RunSubject): Promise<Html> {
  const statuses = Object.values(run.nodes);
  return html`<p class="assembly-progress"><strong>${describeProgress(statuses)}</strong> ${renderTally(statuses, { pathOf: (status) => runPath(run, { tab: 'nodes', status }) })}</p>
${await renderEnd(visit, run)}
${await renderApprovals(visit, run)}`;
}

/** Describes the progress of a run. If it ended with nodes that did not succeed, the text must not say that all are done. */
function describeProgress(statuses: readonly NodeStatus[]): string {
  const count = (wanted: (status: NodeStatus) => boolean) => statuses.filter(wanted).length;
  const isOver = count(isNodeEnded) === statuses.length;
  const isWhole = count((status) => status === 'succeeded' || status === 'skipped') === statuses.length;
  if (!isOver || isWhole) return `${count(isNodeEnded)} of ${statuses.length} nodes done`;
  return `${count((status) => status === 'succeeded')} of ${statuses.length} nodes succeeded`;
}

async function renderEnd(visit: AssemblyRunVisit, run: ShownAssemblyRun): Promise<Html | null> {
  const { status_reason: reason, cancel_reason: cancelReason, actions } = run;
  if (reason === null) return null;
  const why = Object.hasOwn(assemblyRunReasons, reason) ? assemblyRunReasons[reason as AssemblyRunReason] : reason;
  const mayResume = actions.some(({ name, allowed }) => name === 'resume' && allowed);
  return html`<div class="notice notice-wait">${renderIcon('info')}<div><p>${toSentence(why)}${cancelReason ? html` <q class="foreign">${cancelReason}</q>` : null}</p>${await renderFailedNodes(visit, run)}
<p class="muted">The table says for each node why. ${mayResume ? 'Resume runs the nodes that did not succeed; the others are kept.' : null}</p></div></div>`;
}

/** The nodes that failed, each with its first error. */
async function renderFailedNodes(visit: AssemblyRunVisit, { nodes }: ShownAssemblyRun): Promise<Html | null> {
  const keys = Object.entries(nodes).flatMap(([key, status]) =>
    status === 'failed' || status === 'timed_out' ? [key] : [],
  );
  if (keys.length === 0) return null;
  const shown = await Promise.all(
    keys.slice(0, maxListed).map((key) => visit.read(getNode, { params: { ...visit.params, key } })),
  );
  return html`<ul class="failed-nodes">${shown.map(
    ({ key, run_id: runId, reason, status_detail: detail }) =>
      html`<li>${runId === null ? html`<span class="mono foreign">${key}</span>` : html`<a class="mono foreign" href="${pagePath(pages.run, { id: runId }, { tab: 'log' })}">${key}</a>`} ${detail ? renderShortDetail(detail) : html`<span class="foreign">${reason ? toSentence(reason.message) : null}</span>`}</li>`,
  )}</ul>`;
}

/** The nodes that wait for approval, except those that something else holds. Each links to its plan, where people approve it. */
async function renderApprovals(visit: AssemblyRunVisit, { nodes }: ShownAssemblyRun): Promise<Html | null> {
  const keys = Object.entries(nodes).flatMap(([key, status]) => (status === 'pending_approval' ? [key] : []));
  if (keys.length === 0) return null;
  const read = await Promise.all(
    keys.slice(0, maxListed).map((key) => visit.read(getNode, { params: { ...visit.params, key } })),
  );
  const shown = read.filter(({ waiting_on: waiting }) => lookOfPending(waiting) === needsApprovalLook);
  const count = keys.length - (read.length - shown.length);
  if (count === 0) return null;
  const ways = await Promise.all(shown.map(({ key, run_id: runId }) => runId && renderWayToPlan(visit, runId, key)));
  return html`<section class="panel stack needs-approval" aria-labelledby="approvals"><h2 id="approvals">${renderIcon('hand')}${count === 1 ? 'One node needs approval' : `${count} nodes need approval`}</h2>
<ul class="plain-list approval-list" role="list">${shown.map(({ key, run_id: runId, plan }, index) =>
    runId === null
      ? null
      : html`<li><a class="foreign mono" href="${planPath(runId)}">${key}</a> <span>${plan ? renderPlanCounts(plan.summary) : 'no plan yet'}</span> ${ways[index]}</li>`,
  )}</ul>
${keys.length > maxListed ? html`<p class="muted">The next ${shown.length} of ${count}. The table has all.</p>` : null}</section>`;
}

/** The button to the plan of a node. It says what the visitor may do there, and who was asked, or why the visitor may not approve. */
async function renderWayToPlan(visit: AssemblyRunVisit, id: string, key: string): Promise<Html> {
  const of = html`<span class="unseen"> of the plan of ${key}</span>`;
  const run = await orNull(visit.read(getRun, { params: { id }, query: {} }));
  const page = run && (await orNull(visit.read(getEvents, { params: { id }, query: { limit: '1000' } })));
  const button = (label: string) =>
    html`<a class="button button-small" href="${planPath(id)}">${label}<span class="unseen"> the plan of ${key}</span></a>`;
  if (!page) return button('Review');
  const asked = renderAsked(run, page.events, of);
  if (mayApprove(run)) return html`${button('Review')} <span class="muted">${asked}</span>`;
  const why = refusalOf(run.actions, 'approve');
  return html`${button('Look at')} <span class="muted">${why && html`${renderLinkedText(toSentence(why))} `}${asked}</span>`;
}
