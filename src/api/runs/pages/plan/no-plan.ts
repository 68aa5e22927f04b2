import { renderEmpty } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { toSentence } from '#api/web/text.ts';
import { describeDetail } from '#domain/runs/diagnostics/status-detail.ts';
import { type StatusReason, statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { runTabPath, type ShownRun } from '../run-tab.ts';

/** Explains why a run has no plan. It does not say that nothing changes: without a plan, the service does not know. */
export function renderNoPlan(run: ShownRun): Html {
  const { title, explanation } = explain(run);
  const log = html`<a class="button button-plain" href="${runTabPath(run.id, 'log')}">Open the log</a>`;
  return html`<section class="panel" id="plan">${renderEmpty(title, explanation, run.status === 'queued' ? null : log)}</section>`;
}

/** Explains that a run had a plan which is no longer kept. */
export function renderRemovedPlan(): Html {
  const explanation = 'Its retention period ended, or it was deleted with the run. Its summary and digest are above.';
  return html`<section class="panel" id="plan">${renderEmpty('The plan was removed', explanation)}</section>`;
}

function explain(run: ShownRun): { title: string; explanation: string } {
  return run.operation === 'scan' ? explainScan(run) : explainRun(run);
}

function explainScan({ status, status_reason: reason, status_detail: detail }: ShownRun): {
  title: string;
  explanation: string;
} {
  if (!isTerminal(status)) return { title: 'No result yet', explanation: 'The result of the scan appears here.' };
  const explanation = `${describeReason(reason, detail)} Nothing is known about whether anything differs.`;
  return { title: 'The scan ended without a result', explanation: explanation.trim() };
}

function explainRun({ status, status_reason: reason, status_detail: detail, phase }: ShownRun): {
  title: string;
  explanation: string;
} {
  if (isTerminal(status)) {
    const why = status === 'succeeded' ? 'No plan was needed.' : describeReason(reason, detail);
    const unknown = 'Nothing is known about what it would have changed.';
    return {
      title: 'The run ended without a plan',
      explanation: `${why} ${status === 'succeeded' ? '' : unknown}`.trim(),
    };
  }
  if (phase === 'queued') return { title: 'No plan yet', explanation: 'The run is waiting to be planned.' };
  return { title: 'No plan yet', explanation: 'The plan is being made and appears here when it is ready.' };
}

function describeReason(reason: string | null, detail: ShownRun['status_detail']): string {
  if (detail) return toSentence(describeDetail(detail));
  if (reason === null || !Object.hasOwn(statusReasons, reason)) return '';
  return toSentence(statusReasons[reason as StatusReason]);
}
