import { renderCopiedId } from '#api/web/components/copied.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Column, renderTable } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Names } from '#domain/tenancy/names.ts';
import {
  ended,
  inForce,
  readPlaceNames,
  renderMoment,
  renderPerson,
  renderPlace,
  type ShownGrant,
  subjectWords,
} from '../views.ts';

/** A table of assignments: the principal, the action, the place, and why an assignment has ended. */
export async function renderGrants(
  visit: Visit<unknown>,
  caption: string,
  grants: readonly ShownGrant[],
): Promise<Html> {
  const names = await readPlaceNames(
    visit,
    grants.map(({ selector }) => selector),
    grants.flatMap(({ granted_by, revoked_by, ended: end }) => [granted_by, revoked_by, end?.by ?? null]),
  );
  return html`<div class="list-panel">${renderTable({ caption, rows: grants, columns: columnsOf(names) })}</div>`;
}

function columnsOf(names: Names): readonly Column<ShownGrant>[] {
  return [
    { label: 'Who', kind: 'main', cell: renderWho },
    { label: 'Action', cell: ({ action }) => html`<code class="foreign">${action.name}</code>` },
    { label: 'Where', cell: ({ selector }) => renderPlace(selector, names) },
    {
      label: 'State',
      cell: (grant) =>
        html`${renderStatusBadge(grant.in_force ? inForce : ended)}${grant.ended && renderEnd(grant, names)}`,
    },
    {
      label: 'Assigned',
      cell: ({ created_at: at, granted_by: by }) => html`${renderTime(String(at))} by ${renderPerson(by, names)}`,
    },
  ];
}

/** The cell of the principal. The name links to all of its assignments. The id is that of the assignment. */
function renderWho({ id, installation_id: plugin, subject, action }: ShownGrant): Html {
  const path = pagePath(pages.plugin, { id: plugin }, { tab: 'assignments', subject: subject.id });
  return html`<a class="foreign" href="${path}">${subject.name}</a> <span class="muted">${subjectWords[subject.type]}</span>${renderCopiedId(`the id of the assignment of ${action.name} to ${subject.name}`, id)}`;
}

/** Why an assignment has ended and, if known, when and by whom. */
function renderEnd({ ended: end, revoked_at: at, revoked_by: by }: ShownGrant, names: Names): Html {
  if (at !== null) return html`<div class="muted">Revoked ${renderMoment(at, by, names)}.</div>`;
  return html`<div class="muted">${toSentence(end?.message ?? '')}${end?.at ? html` That was ${renderMoment(end.at, end.by, names)}.` : null}</div>`;
}
