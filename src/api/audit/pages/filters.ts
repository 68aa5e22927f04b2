import { findPersonId } from '#api/members/pages/person-fields.ts';
import { fillPath } from '#api/pipeline/answers/location.ts';
import { routeOf } from '#api/pipeline/operation.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import { renderFormField } from '#api/web/forms/form.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages, withQuery } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isId } from '#domain/shared/ids.ts';
import { exportRecords } from '../operations.ts';

const names = [
  'actor',
  'action',
  'resource_type',
  'resource_id',
  'outcome',
  'from',
  'to',
  'request_id',
  'plugin_installation_id',
] as const;

/** The filters in the address, as the operation takes them. Days stand for their beginning in UTC. */
export type AuditFilters = Readonly<Record<string, string>>;

export function readFilters(visit: Visit): AuditFilters {
  const given = names.flatMap((name) => {
    const value = visit.query(name)?.trim();
    return value ? [[name, value] as const] : [];
  });
  const { organizationId, teamId } = visit.scope;
  return {
    ...Object.fromEntries(given),
    ...(organizationId && { organization_id: organizationId }),
    ...(teamId && { team_id: teamId }),
  };
}

/** The filters with a person's id in place of the typed name, if it means one person. Any other text stays, since parts of the service are actors, too. */
export async function withActor(visit: Visit, filters: AuditFilters): Promise<AuditFilters> {
  const { actor } = filters;
  if (actor === undefined || isId(actor) || actor.includes('@')) return filters;
  const id = await findPersonId(visit, actor);
  return id === undefined ? filters : { ...filters, actor: id };
}

export function auditPath(filters: AuditFilters): LocalPath {
  return pagePath(pages.audit, {}, filters);
}

/** The API's own export, with the filters of the page: the browser downloads it with the session. */
export function exportPath(filters: AuditFilters, format: 'ndjson' | 'csv'): LocalPath {
  return withQuery(fillPath(routeOf(exportRecords).path, {}), { ...filters, format });
}

const outcomes: readonly Choice[] = [
  { value: '', label: 'Any' },
  { value: 'committed', label: 'Done' },
  { value: 'refused', label: 'Refused' },
];

/** A form that works without scripts. @param actions the catalogue @param people who are offered as actors */
export function renderFilters(filters: AuditFilters, actions: readonly string[], people: readonly Choice[]): Html {
  const { actor, action, resource_type: type, resource_id: id, outcome, from, to } = filters;
  const isFiltered = names.some((name) => name in filters);
  const text = (name: string, label: string, value: string | undefined, kind: 'search' | 'date' = 'search') =>
    html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${kind}" value="${value ?? ''}" maxlength="255" autocomplete="off" spellcheck="false" ${name === 'actor' ? html`list="actor-people" data-key="f" data-key-says="Filter"` : null}></div>`;
  const choices = [{ value: '', label: 'Any' }, ...actions.map((value) => ({ value, label: value }))];
  return html`<form class="filters" method="get" action="${pagePath(pages.audit)}" role="search" aria-label="Audit records">
${['organization_id', 'team_id', 'request_id', 'plugin_installation_id'].map((name) => (filters[name] ? html`<input type="hidden" name="${name}" value="${filters[name]}">` : null))}
${text('actor', 'Person (name or e-mail)', actor)}<datalist id="actor-people">${people.map(({ value, label }) => html`<option value="${value}" label="${label}"></option>`)}</datalist>
${renderFormField({ name: 'action', label: 'Action', kind: 'select', choices, value: action })}
${text('resource_type', 'Resource type', type)}
${text('resource_id', 'Resource ID', id)}
${renderFormField({ name: 'outcome', label: 'Outcome', kind: 'select', choices: outcomes, value: outcome })}
${text('from', 'From (UTC)', dayOf(from), 'date')}
${text('to', 'Before (UTC)', dayOf(to), 'date')}
<button class="button" type="submit">Filter</button>
${isFiltered ? html`<a class="button button-plain" href="${auditPath({})}">Clear</a>` : null}
</form>`;
}

/** A browser's field for days takes no times. */
function dayOf(time: string | undefined): string | undefined {
  return time?.slice(0, 10);
}
