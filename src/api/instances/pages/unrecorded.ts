import type { Instance, InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { getRun } from '#api/runs/operations.ts';
import { runTabPath } from '#api/runs/pages/run-tab.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';

/** Says that a run changed the instance without recording everything, and what to do about it. Null if everything is recorded. */
export async function renderUnrecorded(visit: InstanceVisit, instance: Instance): Promise<Html | null> {
  const { unrecorded_since: since } = instance;
  if (since === null) return null;
  const run = await visit.read(getRun, { params: { id: since.run_id }, query: {} });
  const isPartial = run.status === 'succeeded';
  const by = html`${renderRunLink(run.id)} (${renderAge(since.at)})`;
  return html`<div class="notice notice-problem">${renderIcon('triangle-alert')}<div class="stack">
<p><strong>${isPartial ? 'It may differ from its last deployment.' : 'It may hold resources that nothing recorded.'}</strong> ${isPartial ? html`Run ${by} changed only a part of it.` : html`The ${run.operation} of ${by} did not end well, so its last changes may be missing in the state.`}</p>
<p>${isPartial ? adviceAfterPart : adviceAfterFailure(run.id)} This notice ends with the next complete run, <a href="${pagePath(pages.drift, {}, { instance_id: instance.id })}">scan for drift</a> that a person starts, or import of a state. A scan by schedule does not end it.</p>
</div></div>`;
}

const adviceAfterPart = 'Run it again without options that leave something out.';

function adviceAfterFailure(runId: string): Html {
  return html`Read <a href="${runTabPath(runId, 'log')}">what the run did last</a>, then deploy again. A resource that exists and is not in the state must be imported, or removed by hand.`;
}
