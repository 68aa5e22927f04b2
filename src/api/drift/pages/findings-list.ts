import { renderAction } from '#api/web/components/actions.ts';
import { renderInstanceLink, renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderEmpty, renderPages } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pages, type Query } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findingStatuses } from '#domain/drift/findings/model.ts';
import type { Action } from '#domain/shared/actions.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { list } from '../finding-operations.ts';
import { describeWhole, renderDeviation, renderExpectation } from './deviation.ts';
import { toChoice } from './finding-forms.ts';
import { renderFindingStatus, type ShownFinding } from './labels.ts';
import { findingPath } from './views.ts';

const statusWords = { open: 'Open', suppressed: 'Suppressed', resolved: 'Resolved' } as const;

/** The status in the address; open by default. */
function statusOf(visit: Visit<unknown>): (typeof findingStatuses)[number] | undefined {
  const wanted = visit.query('status') ?? 'open';
  return wanted === 'all' ? undefined : (findingStatuses.find((each) => each === wanted) ?? 'open');
}

interface FindingsList {
  readonly filter: Query;
  /** Builds the address of the page with this query. */
  readonly link: (query: Query) => LocalPath;
  /** Whether the visitor may suppress findings. */
  readonly suppression: Action;
  /** Explains an empty list. */
  readonly none: string;
}

/** The matching findings by resource, each with the expected and the actual value. */
export async function renderFindings(
  visit: Visit<unknown>,
  { filter, link, suppression, none }: FindingsList,
): Promise<Html> {
  const status = statusOf(visit);
  const cursor = visit.query('cursor');
  const { drift_findings: findings, next_cursor: next } = await visit.read(list, {
    query: { ...filter, status, cursor },
  });
  const names = await readNames(visit.em, { instances: findings.map((each) => each.instance_id) });
  return html`<ul class="chips" role="list" aria-label="Which findings">
${[...findingStatuses, undefined].map(
  (each) =>
    html`<li><a class="chip" href="${link({ status: each ?? 'all' })}" ${each === status ? html`aria-current="true"` : null}>${each ? statusWords[each] : 'All'}</a></li>`,
)}</ul>
${findings.length > 0 ? renderGroups(findings, names, suppression) : html`<div class="list-panel">${renderNone(status, none)}</div>`}
${renderPages({ cursor, next }, (query) => link({ status: status ?? 'all', ...query }))}`;
}

/** Groups the findings of each resource. */
function renderGroups(findings: readonly ShownFinding[], names: Names, suppression: Action): Html {
  const groups = new Map<string, ShownFinding[]>();
  for (const finding of findings) {
    const key = `${finding.instance_id} ${finding.address}`;
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return html`<form method="get" action="${pages.suppressDriftFindings}" class="drift-groups">
${[...groups.values()].map((group) => renderGroup(group, names))}
${findings.some(({ status }) => status !== 'resolved') ? html`<div class="form-end">${renderSuppress(suppression)}</div>` : null}
</form>`;
}

function renderSuppress(suppression: Action): Html {
  const label = 'Suppress selected';
  if (suppression.allowed) return html`<button class="button" type="submit">${label}</button>`;
  return renderAction(suppression, { label, path: pages.suppressDriftFindings });
}

function renderGroup(group: readonly ShownFinding[], names: Names): Html {
  const [first] = group;
  const { address, instance_id: id } = first ?? { address: '', instance_id: '' };
  const name = first ? html`<a href="${findingPath(first.id)}">${address}</a>` : address;
  return html`<section class="list-panel drift-group" aria-label="${address}">
<header class="drift-group-head"><h2 class="mono foreign">${name}</h2>${renderInstanceLink(id, names)}</header>
<ul class="rows">${group.map(renderFinding)}</ul>
</section>`;
}

function renderFinding(finding: ShownFinding): Html {
  const { id, path, status, evidence, seen_count: count, remediation_run_id: run } = finding;
  const label = path === '' ? 'the whole resource' : path;
  return html`<li class="row drift-row" data-row>
${status === 'resolved' ? null : html`<input type="checkbox" name="findings" value="${toChoice(finding)}" aria-label="Choose ${label} of ${finding.address}">`}
<div class="row-text"><p class="row-title"><a class="mono foreign" href="${findingPath(id)}">${label}</a> ${renderFindingStatus(status)}</p>
${path === '' ? html`<p class="muted">${describeWhole(finding)}</p>` : html`<div class="value-changes">${renderDeviation(evidence, 300)}</div>${renderExpectation(evidence)}`}
<p class="muted">Seen by ${count === 1 ? 'one scan' : `${count} scans`}, last ${renderAge(finding.last_seen_at)}${run ? html` · being remediated by ${renderRunLink(run)}` : null}</p></div>
</li>`;
}

function renderNone(status: ReturnType<typeof statusOf>, none: string): Html {
  if (status === 'open') return renderEmpty('No open findings', none);
  if (status === undefined) return renderEmpty('No findings yet', 'Findings appear when a scan detects drift.');
  return renderEmpty(`No ${status} findings`, 'No finding that you can see has this status.');
}
