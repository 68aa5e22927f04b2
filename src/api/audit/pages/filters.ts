import { tagOf } from '#api/document/tags.ts';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { fillPath } from '#api/pipeline/answers/location.ts';
import { routeOf } from '#api/pipeline/operation.ts';
import { find } from '#api/search/operations.ts';
import { renderChips } from '#api/web/components/chips.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import { renderFormField } from '#api/web/forms/form.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages, withQuery } from '#api/web/paths.ts';
import { kindOfType } from '#api/web/resource-kinds.ts';
import { capitalize } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { recordKinds } from '#domain/audit/model.ts';
import { isId } from '#domain/shared/ids.ts';
import { exportRecords, type listActions } from '../operations.ts';

const names = [
  'kind',
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

const subjects = ['action', 'actor', 'resource_id', 'request_id'] as const satisfies (typeof names)[number][];

/** The filters in the address, in the form that operations accept. A day means its beginning in UTC. */
export type AuditFilters = Readonly<Record<string, string>>;

export function readFilters(visit: Visit): AuditFilters {
  const given = names.flatMap((name) => {
    const value = visit.query(name)?.trim();
    return value ? [[name, value] as const] : [];
  });
  const { organizationId, teamId } = visit.scope;
  const typed: AuditFilters = Object.fromEntries(given);
  return {
    // A search for one action, actor, resource or request includes reads and denials. The plain list has only changes.
    kind: subjects.some((name) => typed[name] !== undefined) ? 'all' : 'change',
    ...typed,
    ...(organizationId && { organization_id: organizationId }),
    ...(teamId && { team_id: teamId }),
  };
}

/**
 * Replaces the typed name of a resource by its id, if exactly one resource has the name. Any other text stays. The operations resolve the
 * actor.
 */
export async function withNamed(visit: Visit, filters: AuditFilters): Promise<AuditFilters> {
  const resource = await findResource(visit, filters);
  return { ...filters, ...(resource && { resource_id: resource }) };
}

/** The id of the resource that a text names: the only one with this name, or else the only result of a search. */
async function findResource(visit: Visit, filters: AuditFilters): Promise<string | undefined> {
  const { resource_id: text, resource_type: type } = filters;
  if (text === undefined || isId(text) || !visit.mayDo(find).allowed) return undefined;
  const { results } = await visit.read(find, { query: { q: text.slice(0, maxSearched) } });
  const kind = type === undefined ? null : kindOfType(type);
  const found = kind === null ? results : results.filter((each) => each.kind === kind);
  const called = found.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  const [only, ...others] = called.length > 0 ? called : found;
  return others.length === 0 ? only?.id : undefined;
}

const maxSearched = 200;

/** The filters in the form of the operations' queries. */
export function apiQuery({ kind, ...filters }: AuditFilters): AuditFilters {
  return { ...filters, ...(kind !== undefined && kind !== 'all' && { kind }) };
}

export function auditPath(filters: AuditFilters): LocalPath {
  return pagePath(pages.audit, {}, filters);
}

/** The address of the API's own export, with the filters of the page. The browser downloads it with the session. */
export function exportPath(filters: AuditFilters, format: 'ndjson' | 'csv'): LocalPath {
  return withQuery(fillPath(routeOf(exportRecords).path, {}), { ...apiQuery(filters), format });
}

const outcomes: readonly Choice[] = [
  { value: '', label: 'Any' },
  { value: 'committed', label: 'Done' },
  { value: 'refused', label: 'Refused' },
];

const kinds = [
  { value: 'change', label: 'Changes' },
  { value: 'read', label: 'Reads' },
  { value: 'all', label: 'All' },
];

/** Links that switch between changes and reads. The action is left out, because each action is of one kind. */
export function renderKinds({ action: _, ...filters }: AuditFilters): Html {
  return renderChips('Changes or reads', kinds, filters['kind'], (kind) =>
    auditPath({ ...filters, kind: kind ?? 'all' }),
  );
}

/** A form that works without scripts. @param actions the catalogue @param people suggestions for the actor */
export function renderFilters(
  filters: AuditFilters,
  actions: readonly CatalogueEntry[],
  people: readonly Choice[],
): Html {
  const { kind, actor, action, resource_type: type, resource_id: id, outcome, from, to } = filters;
  const isFiltered = names.some((name) => name !== 'kind' && name in filters);
  const text = (name: string, label: string, value: string | undefined, kind: 'search' | 'date' = 'search') =>
    html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${kind}" value="${value ?? ''}" maxlength="255" autocomplete="off" spellcheck="false" ${name === 'actor' ? html`list="actor-people" data-key="f" data-key-says="Filter"` : null}></div>`;
  const any = { value: '', label: 'Any' };
  const ofKind = recordKinds.find((each) => each === kind) ?? null;
  return html`<form class="filters" method="get" action="${pagePath(pages.audit)}" role="search" aria-label="Audit records">
${['kind', 'organization_id', 'team_id', 'request_id', 'plugin_installation_id'].map((name) => (filters[name] ? html`<input type="hidden" name="${name}" value="${filters[name]}">` : null))}
${text('actor', 'Who (name or e-mail)', actor)}<datalist id="actor-people">${people.map(({ value, label }) => html`<option value="${value}" label="${label}"></option>`)}</datalist>
${renderFormField({ name: 'action', label: 'Action', kind: 'select', choices: [any, ...choicesOfActions(actions, ofKind)], value: action ?? '' })}
${renderFormField({ name: 'resource_type', label: 'Resource type', kind: 'select', choices: [any, ...choicesOfTypes(actions, type)], value: type ?? '' })}
${text('resource_id', 'Resource (name or ID)', id)}
${renderFormField({ name: 'outcome', label: 'Outcome', kind: 'select', choices: outcomes, value: outcome })}
${text('from', 'From (UTC)', dayOf(from), 'date')}
${text('to', 'Before (UTC)', dayOf(to), 'date')}
<button class="button" type="submit">Filter</button>
${isFiltered ? html`<a class="button button-plain" href="${auditPath({})}">Clear</a>` : null}
</form>`;
}

/** The day of a time, for a field that accepts only days. */
function dayOf(time: string | undefined): string | undefined {
  return time?.slice(0, 10);
}

type CatalogueEntry = EncodedAnswerOf<typeof listActions.responses>['actions'][number];

/** The choices of actions, in groups by area. Those of reads come last. @param kind null: both kinds */
function choicesOfActions(entries: readonly CatalogueEntry[], kind: CatalogueEntry['kind'] | null): Choice[] {
  const areas = areasOfTypes(entries);
  const byAction = new Map(entries.map((entry) => [entry.action, entry] as const));
  const choices = [...byAction.values()].flatMap((entry) => {
    if (kind !== null && entry.kind !== kind) return [];
    const area = toWords(areas.get(entry.resource_type) ?? entry.resource_type);
    const group = entry.kind === 'read' ? `${area}, reads` : area;
    return [{ value: entry.action, label: entry.action, group, order: `${entry.kind === 'read' ? 1 : 0}${group}` }];
  });
  return choices
    .toSorted((one, other) => compare(one.order, other.order) || compare(one.value, other.value))
    .map(({ order: _, ...choice }) => choice);
}

/**
 * The choices of resource types that records have. A type that was typed and is unknown stays among them, so that its problem can be shown.
 */
function choicesOfTypes(entries: readonly CatalogueEntry[], chosen: string | undefined): Choice[] {
  const types = [...new Set([...entries.map((entry) => entry.resource_type), ...(chosen ? [chosen] : [])])];
  return types.toSorted(compare).map((value) => ({ value, label: toWords(value) }));
}

/**
 * The area of each type of resource. Actions of the service itself have no operation, so they belong to the area of the operations on the
 * same type.
 */
function areasOfTypes(entries: readonly CatalogueEntry[]): ReadonlyMap<string, string> {
  return new Map(
    entries.flatMap(({ operation, resource_type: type }) =>
      operation === null ? [] : [[type, tagOf({ id: operation })] as const],
    ),
  );
}

function toWords(name: string): string {
  return capitalize(name.replaceAll('_', ' '));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
