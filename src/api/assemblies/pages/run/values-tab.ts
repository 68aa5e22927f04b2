import { renderOutputs, renderVariables } from '#api/runs/pages/run/values.ts';
import { copyScript } from '#api/web/components/copied.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { AssemblyRunTab } from './run-tab.ts';

/** What the run was given, what came out, and its request. */
export const valuesTab: AssemblyRunTab = {
  key: 'details',
  label: 'Details',
  scripts: [copyScript],
  async render(_visit, { run }) {
    const history = pagePath(pages.audit, {}, { resource_type: 'assembly_runs', resource_id: run.id });
    return html`<div class="run-details">
${section('Outputs', renderOutputs(run.outputs))}
${section('Variables', renderVariables(run.variables))}
${section(
  'Request',
  renderFacts([
    ['Requested by', html`<span class="foreign">${run.requested_by.name}</span>`],
    ['Message', run.message ? html`<span class="foreign">${run.message}</span>` : null],
    ['Only', run.only && html`<span class="foreign mono">${run.only.join(', ')}</span>`],
    ['Parallel nodes', `${run.concurrency} nodes`],
    ['Created', renderTime(run.created_at)],
    ['Started', run.started_at && renderTime(run.started_at)],
    ['Finished', run.finished_at && renderTime(run.finished_at)],
    ['History', html`<a href="${history}">Show the audit records of this run</a>`],
    ['Run', html`<code>${run.id}</code>`],
    ['Idempotency key', html`<code>${run.idempotency_key}</code>`],
  ]),
)}
</div>`;
  },
};

function section(title: string, content: Html): Html {
  const id = `details-${title.toLowerCase()}`;
  return html`<section class="panel run-section" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`;
}
