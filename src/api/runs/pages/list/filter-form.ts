import { list as listTemplates } from '#api/registry/template-operations.ts';
import { readEnvironmentChoices } from '#api/tenancy/pages/environment-choices.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { groupWordOf, runStatusLooks } from '#api/web/components/status.ts';
import type { Choice, Choices } from '#api/web/forms/fields/choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { choicesOf } from '#api/web/forms/fields/named-things.ts';
import { renderFormField } from '#api/web/forms/form.ts';
import { type Html, html } from '#api/web/html.ts';
import { pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { runOperations, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { type WaitingCode, waitingCodes } from '#domain/shared/vocabulary/waiting.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { operationWords } from '../labels.ts';
import type { ListedShownRun } from '../run-tab.ts';
import { cutFilters, isSameSet, type ListAddress, listPath, views } from './filters.ts';

/** The choices that the filters offer: environments and templates that the visitor may read, and the requesters of the runs on the page. */
export interface FilterChoices {
  readonly environments: Choices;
  readonly templates: Choices;
  readonly requesters: readonly Choice[];
}

export async function readFilterChoices(
  visit: Visit,
  { scope, filters }: ListAddress,
  runs: readonly ListedShownRun[],
): Promise<FilterChoices> {
  const { environment_id: environment = null, template_id: template = null, requested_by: requester = null } = filters;
  const teamId = scope['team_id'];
  const [environments, { templates, next_cursor: next }] = await Promise.all([
    readEnvironmentChoices(visit, { ...(typeof teamId === 'string' && { teamId }), alsoId: environment }),
    visit.read(listTemplates, { query: { limit: '200' } }),
  ]);
  // A link may filter by something that is not among the first choices. Its name is read only if a run on the page belongs to it, so that
  // no hidden name is shown.
  const shownOnly = (id: string | null, shown: readonly (string | null)[]) => (shown.includes(id) ? [id] : []);
  const ofEnvironments = runs.map((run) => run.environment_id);
  const ofTemplates = runs.map((run) => run.template_id);
  const names = await readNames(visit.em, {
    environments: shownOnly(environment, ofEnvironments),
    templates: shownOnly(template, ofTemplates),
  });
  const people = runs.flatMap(({ requested_by: { id, name } }) => (id === null ? [] : [{ value: id, label: name }]));
  const you = { value: visit.principal.id, label: `${visit.principal.name} (you)` };
  return {
    environments: withAny(environments, environment, names),
    templates: withAny(await choicesOf(visit.em, { things: templates, next, kind: 'template' }), template, names),
    requesters: withAny({ choices: [...people, you], isCut: false }, requester, names).choices,
  };
}

/** Adds to the choices the chosen one and "Any", and sorts them by name. */
function withAny({ choices, ...cut }: Choices, chosen: string | null, names: Names): Choices {
  const byValue = new Map(choices.map(({ value, label }) => [value, label]));
  if (chosen !== null && !byValue.has(chosen)) byValue.set(chosen, names.get(chosen)?.name ?? chosen);
  const all = [...byValue].map(([value, label]) => ({ value, label }));
  const sorted = all.sort((one, other) => one.label.localeCompare(other.label));
  return { ...cut, choices: [{ value: '', label: 'Any' }, ...sorted] };
}

/** The names of the reasons for waiting, in the filter. */
const waitingNames: Readonly<Record<WaitingCode, string>> = {
  engine: 'To start',
  instance_busy: 'Another run',
  quota: 'A quota',
  pool_share: 'A share of the pool',
  no_worker: 'A worker',
  approval: 'Approval',
  paused: 'End of a pause',
  locked: 'A lock',
  frozen: 'A freeze window',
};

/** The views that people need most, and below them all filters. The address contains both, and they work without scripts. */
export function renderFilters(address: ListAddress, choices: FilterChoices): Html {
  const used = Object.keys(address.filters).length;
  const isView = views.some(({ statuses }) => isSameSet(statuses, address.statuses));
  return html`<div class="list-filters">
<ul class="chips" aria-label="Views">${views.map(
    ({ label, statuses }) =>
      html`<li><a class="chip" href="${listPath(address, { statuses })}" ${
        isSameSet(statuses, address.statuses) ? html`aria-current="true"` : null
      }>${label}</a></li>`,
  )}</ul>
<details class="more-filters" ${used > 0 || !isView ? html`open` : null}>
<summary class="chip" data-key="f" data-key-says="Filters">${renderIcon('filter')}Filters${used > 0 ? html` <span class="count">${used}</span>` : null}</summary>
${renderForm(address, choices)}
</details>
</div>`;
}

function renderForm(address: ListAddress, { environments, templates, requesters }: FilterChoices): Html {
  const { scope, filters, statuses } = address;
  const [environmentFilter, templateFilter] = cutFilters;
  const operations = [
    { value: '', label: 'Any' },
    ...runOperations.map((value) => ({ value, label: operationWords[value] })),
  ];
  const waits = [
    { value: '', label: 'Anything' },
    ...waitingCodes.map((value) => ({ value, label: waitingNames[value] })),
  ];
  const fields: FormField[] = [
    { name: 'operation', label: 'Operation', kind: 'select', choices: operations },
    { ...environmentFilter, ...environments },
    { ...templateFilter, ...templates },
    { name: 'requested_by', label: 'Requested by', kind: 'select', choices: requesters },
    { name: 'waiting_on', label: 'Waiting for', kind: 'select', choices: waits },
    { name: 'from', label: 'From', kind: 'date' },
    { name: 'to', label: 'Before', kind: 'date' },
  ];
  const kept = Object.entries({ ...scope, instance_id: filters.instance_id }).filter(
    ([, value]) => value !== undefined,
  );
  return html`<form class="filters panel" method="get" action="${pages.runs}">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<fieldset class="status-filter"><legend>Status</legend>${runStatuses.map(
    (status) =>
      html`<label class="choice"><input type="checkbox" name="status" value="${status}" ${
        statuses.includes(status) ? html`checked` : null
      }> <span>${groupWordOf(runStatusLooks[status])}</span></label>`,
  )}</fieldset>
${fields.map((field) => renderFormField({ ...field, isOptional: false, value: dayOf(filters[field.name as keyof typeof filters]) }))}
<div class="filters-end"><button class="button button-primary" type="submit">Filter</button><a class="button button-plain" href="${listPath(address, { statuses: [], filters: {} })}">Clear</a></div>
</form>`;
}

/** The day of a time, for a field that shows days. */
function dayOf(value: string | undefined): string | undefined {
  return value !== undefined && /^\d{4}-\d{2}-\d{2}T/.test(value) ? value.slice(0, 10) : value;
}
