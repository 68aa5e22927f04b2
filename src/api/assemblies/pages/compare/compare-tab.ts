import type { FastifyReply } from 'fastify';
import { renderAlert } from '#api/web/components/alerts.ts';
import { renderEmpty } from '#api/web/components/table.ts';
import { submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { diff } from '../../diff-operations.ts';
import { list } from '../../version-operations.ts';
import { assemblyPage, mayWrite } from '../assembly/frame.ts';
import { graphScript } from '../graph-view.ts';
import type { AssemblySubject, AssemblyVisit } from '../views.ts';
import { renderComparison } from './comparison.ts';

/** Compares two versions, or a version with the draft. */
export async function showCompare(visit: AssemblyVisit, assembly: AssemblySubject): Promise<FastifyReply> {
  const { id } = assembly;
  const { versions } = await visit.read(list, { params: { id }, query: { limit: '100' } });
  const names = [...(mayWrite(assembly) ? ['draft'] : []), ...versions.map(({ version }) => version)];
  const [latest, before] = versions.map(({ version }) => version);
  const to = visit.query('to') ?? latest;
  const from = visit.query('from') ?? before ?? latest;
  if (from === undefined || to === undefined)
    return visit.show(assemblyPage(visit, assembly, 'compare', renderNothing()));
  const compared = await submit(visit, [], () => visit.read(diff, { params: { id }, query: { from, to } }));
  const content = compared.done
    ? await renderComparison(visit, id, compared.result)
    : renderAlert('refused', compared.problems.others.join(' '));
  const shown = compared.done ? { from: compared.result.from, to: compared.result.to } : { from, to };
  return visit.show(
    assemblyPage(visit, assembly, 'compare', html`${renderChoice(id, names, shown)}${content}`, {
      scripts: [graphScript],
      hasProblem: !compared.done,
    }),
    compared.done ? 200 : compared.problems.status,
  );
}

function renderNothing(): Html {
  return html`<div class="list-panel">${renderEmpty('Nothing to compare yet', 'You can compare two versions, or a version with the draft.')}</div>`;
}

function renderChoice(id: string, names: readonly string[], shown: { from: string; to: string }): Html {
  const select = (name: 'from' | 'to', label: string) =>
    html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}" ${name === 'from' ? html`data-key="f"` : null}>${[
      ...new Set([...names, shown[name]]),
    ].map(
      (each) =>
        html`<option value="${each}" ${each === shown[name] ? html`selected` : null}>${each === 'draft' ? 'Draft' : each}</option>`,
    )}</select></div>`;
  return html`<form class="filters" method="get" action="${pagePath(pages.assembly, { id })}" aria-label="What to compare">
<input type="hidden" name="tab" value="compare">
${select('from', 'Before')}${select('to', 'After')}
<button class="button" type="submit">Compare</button>
</form>`;
}
