import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import type { ShownRun } from '../../run-tab.ts';
import { planPath } from '../plan-address.ts';

/** Shown in place of a plan that a newer one has replaced, and of its buttons. */
export function renderMoved(run: ShownRun): Html {
  return html`<section class="panel plan-moved" id="plan" role="alert" aria-labelledby="moved-title">
<h2 id="moved-title">${renderIcon('triangle-alert')}The plan changed – review again</h2>
<p>The plan changed after you opened it. Nothing was decided.</p>
<p><a class="button button-primary" href="${planPath(run.id)}">Review the new plan</a></p>
</section>`;
}
