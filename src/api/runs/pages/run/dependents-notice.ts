import { getDependencies } from '#api/instances/dependency-operations.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { readNames } from '#domain/tenancy/names.ts';
import type { RunVisit, ShownRun } from '../run-tab.ts';

/** Tells the reviewers of a destroy which other instances were deployed with the outputs of this one. */
export async function renderDependentsNotice(visit: RunVisit, run: ShownRun): Promise<Html | null> {
  if (run.operation !== 'destroy' || isTerminal(run.status)) return null;
  if (!visit.mayDo(getDependencies).allowed) return null;
  const { dependents, other_dependents: others } = await visit.read(getDependencies, {
    params: { id: run.instance_id },
  });
  if (dependents.length + others === 0) return null;
  const names = await readNames(visit.em, { environments: dependents.map((each) => each.environment_id) });
  const lines = dependents.map(({ id, name, environment_id: environment }) => {
    const place =
      environment === null ? null : html` in <span class="foreign">${names.get(environment)?.name ?? 'deleted'}</span>`;
    return html`<li><a class="foreign" href="${pagePath(pages.instance, { id })}">${name}</a>${place}</li>`;
  });
  const more = others > 0 ? html`<li>${pluralize(others, 'other instance')} that you may not read</li>` : null;
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<div class="stack"><p><strong>Other instances use outputs that this run destroys.</strong> They keep the values that they were deployed with.</p><ul>${lines}${more}</ul></div></div>`;
}
