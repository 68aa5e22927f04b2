import { listAllRuns } from '#api/runs/lists/list-operations.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isTerminal, runStatuses } from '#domain/shared/vocabulary/runs.ts';

/** Unfinished runs of an instance. They may change it before the form's run does. */
export interface UnfinishedRuns {
  readonly instance: string;
  readonly runs: Awaited<ReturnType<typeof readRuns>>;
  readonly hasMore: boolean;
}

const maxShown = 5;
const unfinished = runStatuses.filter((status) => !isTerminal(status));
const changing = ['apply', 'destroy', 'refresh'];

/** Reads them. Null if there are none, or if the visitor may not read them. */
export async function readUnfinished(
  visit: Visit,
  instance: { readonly id: string; readonly name: string } | null,
): Promise<UnfinishedRuns | null> {
  if (!instance || !visit.mayDo(listAllRuns).allowed) return null;
  const runs = await readRuns(visit, instance.id);
  if (runs.length === 0) return null;
  return { instance: instance.name, runs: runs.slice(0, maxShown), hasMore: runs.length > maxShown };
}

async function readRuns(visit: Visit, id: string) {
  const query = { instance_id: id, status: unfinished, limit: '50' };
  const { runs } = await visit.read(listAllRuns, { params: {}, query });
  return runs.filter(({ operation }) => changing.includes(operation));
}

export function renderUnfinished(found: UnfinishedRuns | null): Html | null {
  if (!found) return null;
  const { instance, runs, hasMore } = found;
  const name = html`<span class="foreign">${instance}</span>`;
  const rows = runs.map((run) => html`<li>${renderRunLink(run.id)}: ${run.operation} ${renderRunStatus(run)}</li>`);
  const what =
    runs.length === 1
      ? html`A run of ${name} is not finished. It may change what is deployed before the run of this form does.`
      : html`Runs of ${name} are not finished. They may change what is deployed before the run of this form does.`;
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<div class="stack"><p>${what}</p><ul>${rows}${hasMore ? html`<li>and more</li>` : null}</ul></div></div>`;
}
