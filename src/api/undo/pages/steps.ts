import { getRun } from '#api/runs/operations.ts';
import { renderPlanBeside } from '#api/runs/pages/plan/plan-tab.ts';
import { renderVariables } from '#api/runs/pages/run/values.ts';
import { runTabPath } from '#api/runs/pages/run-tab.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLinkedText } from '#api/web/linked-text.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize, toSentence } from '#api/web/text.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { planLabel, promoteLabel, type ShownAttempt, type ShownChecks } from './labels.ts';
import { explainPromotion, promotionFields } from './promotion.ts';

/** A part of the page of an undo. */
export function section(id: string, title: string, content: Html): Html {
  return html`<section class="panel run-section" id="undo-${id}" aria-labelledby="undo-${id}-title"><h2 id="undo-${id}-title">${title}</h2>${content}</section>`;
}

interface Step {
  readonly attempt: ShownAttempt;
  readonly checks: ShownChecks;
  /** Its instance has changed since the check, so it cannot continue. */
  readonly isStale: boolean;
  /** If scripts run, the page takes the step without the visitor. */
  readonly goesOn: boolean;
}

/** The next step: to plan the undo, or to confirm the plan. */
export async function renderNextStep(visit: Visit, { attempt, checks, isStale, goesOn }: Step): Promise<Html | null> {
  if (isStale) return null;
  if (attempt.state === 'ready') return renderPlanning(attempt, goesOn);
  if (attempt.state !== 'promotable') return null;
  const passed = checks.find(({ state }) => state === 'passed');
  const plan = passed && (await orNull(renderPlanOf(visit, passed.run_id)));
  return html`${plan}
${section('confirm', 'Confirm the undo', renderConfirmation(attempt))}`;
}

/** @throws NotFound for visitors who may read the undo, but not its plan */
async function renderPlanOf(visit: Visit, runId: string): Promise<Html> {
  return renderPlanBeside(visit, await visit.read(getRun, { params: { id: runId }, query: {} }));
}

function renderPlanning(attempt: ShownAttempt, goesOn: boolean): Html {
  const action = pagePath(pages.planUndo, { id: attempt.id });
  return unlessRefused(attempt, 'check_candidate', () => renderForm({ action, fields: [], submit: planLabel, goesOn }));
}

function renderConfirmation(attempt: ShownAttempt): Html {
  const action = pagePath(pages.promoteUndo, { id: attempt.id });
  return unlessRefused(attempt, 'promote', () => {
    const form = renderForm({ action, fields: promotionFields(attempt), submit: promoteLabel });
    return html`${explainPromotion(attempt)}${form}`;
  });
}

/** Renders a step or, if the visitor may not take it now, the reason. */
function unlessRefused({ actions }: ShownAttempt, name: string, render: () => Html): Html {
  const refusal = refusalOf(actions, name);
  if (refusal === null) return render();
  return html`<div class="notice notice-problem"><p>${renderLinkedText(toSentence(refusal))}</p></div>`;
}

/** Details for few readers: the inputs to deploy, with their digest, and all plans of them. */
export function renderFolded({ candidate }: ShownAttempt, checks: ShownChecks): Html | null {
  if (!candidate) return null;
  return html`<details class="panel"><summary>Inputs and digest of the undo</summary>
${renderFacts([
  ['Version', candidate.version],
  ['Digest', html`<code class="foreign">${candidate.digest}</code>`],
])}
<h3>Variables</h3>
${renderVariables(candidate.variables)}
</details>
${checks.length === 0 ? null : html`<details class="panel"><summary>${pluralize(checks.length, 'plan')} of the undo</summary>${renderChecks(checks)}</details>`}`;
}

const checkWords = { checking: 'in progress', passed: 'planned', failed: 'failed' } as const;

function renderChecks(checks: ShownChecks): Html {
  return renderTable<ShownChecks[number]>({
    caption: 'Plans of the undo',
    rows: checks,
    columns: [
      {
        label: 'Plan',
        kind: 'main',
        cell: ({ run_id: run }) => html`<a href="${runTabPath(run, 'plan')}">plan of run …${run.slice(-6)}</a>`,
      },
      {
        label: 'Result',
        cell: ({ state, problem }) =>
          problem
            ? html`<span class="foreign">${renderLinkedText(toSentence(problem.message))}</span>`
            : checkWords[state],
      },
      {
        label: 'Other resources affected',
        cell: ({ collateral }) => (collateral ? pluralize(collateral.length, 'resource') : null),
      },
      {
        label: 'Requested by',
        kind: 'minor',
        cell: ({ requested_by: by }) => html`<span class="foreign">${by.name}</span>`,
      },
      { label: 'Time', cell: ({ created_at: at }) => renderAge(at) },
    ],
  });
}
