import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { type Column, renderTable } from '#api/web/components/table.ts';
import { renderSince, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import type { Names } from '#domain/tenancy/names.ts';
import type { list as listApprovals } from '../../approvals/inbox-operations.ts';
import { operationWords } from '../labels.ts';
import { renderPlanCounts } from '../plan/counts.ts';
import { planPath } from '../plan/plan-address.ts';

export type Inbox = EncodedAnswerOf<(typeof listApprovals)['responses']>;
type Row = Inbox['approvals'][number];

/** The runs that wait for the visitor. Reviews are not possible here, because a reviewer must see the plan. */
export function renderInboxTable({ approvals }: Inbox, names: Names): Html {
  return renderTable({
    caption: 'Runs that need your approval, oldest first',
    rows: approvals,
    rowId: ({ run }) => `run-${run.id}`,
    columns: columnsWith(names),
  });
}

function columnsWith(names: Names): Column<Row>[] {
  const nameOf = (id: string | null) => names.get(id ?? '')?.name ?? null;
  return [
    {
      label: 'Instance',
      kind: 'main',
      cell: ({ run }) =>
        html`<a class="foreign" href="${planPath(run.id)}">${run.instance}</a>${renderAssembly(run, names)}${renderMessage(run.message)}`,
    },
    { label: 'Operation', cell: ({ run }) => renderOperation(run.operation) },
    { label: 'Changes', cell: ({ run }) => (run.plan ? renderPlanCounts(run.plan.summary) : 'No plan') },
    { label: 'Environment', cell: ({ run }) => renderPlace(nameOf(run.environment_id), nameOf(run.team_id)) },
    { label: 'Requested by', cell: ({ run }) => html`<span class="foreign">${run.requested_by.name}</span>` },
    { label: 'Waiting', cell: renderWait },
    { label: 'Approvals', cell: renderApprovals },
  ];
}

/** The assembly of which the run is a node. */
function renderAssembly({ assembly_node: node, assembly_run_id: runID }: Row['run'], names: Names): Html | null {
  if (node === null || runID === null) return null;
  const path = pagePath(pages.assemblyRun, { id: node.assembly_id, runID });
  return html`<p class="inbox-message muted">node <span class="mono foreign">${node.key}</span> of <a class="foreign" href="${path}">${names.get(node.assembly_id)?.name ?? 'an assembly'}</a></p>`;
}

function renderMessage(message: string): Html | null {
  return message === '' ? null : html`<p class="inbox-message muted foreign">${message}</p>`;
}

function renderOperation(operation: RunOperation): Html {
  return operation === 'destroy'
    ? html`<strong class="plan-count kind-destroy">${operationWords[operation]}</strong>`
    : html`${operationWords[operation]}`;
}

function renderPlace(environment: string | null, team: string | null): Html | null {
  if (environment === null && team === null) return null;
  return html`<span class="foreign">${environment ?? 'No environment'}</span>${team ? html`<span class="inbox-end muted foreign">${team}</span>` : null}`;
}

/** Since when a run waits, and when its approval expires. */
function renderWait({ run }: Row): Html {
  const { expires_at: end } = run.approval;
  return html`${renderSince(run.waiting_on?.since ?? run.created_at)}${end ? html`<span class="inbox-end muted">ends ${renderTime(end)}</span>` : null}`;
}

/** How many approvals the run has of those that it needs, and who asked the visitor for a review. */
function renderApprovals({ approvals, asked, request, run }: Row): Html {
  const count = html`${approvals} of ${run.approval.required}`;
  if (!asked) return count;
  if (request === null) return html`${count}<p class="inbox-message"><strong>Review requested</strong></p>`;
  const message = request.message ? html`<q class="muted foreign">${request.message}</q>` : null;
  return html`${count}<p class="inbox-message"><strong><span class="foreign">${request.by}</span> asked you</strong> ${message}</p>`;
}
