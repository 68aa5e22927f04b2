import { renderFormField } from '#api/web/forms/form.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { PluginVisit, ShownPlugin } from '../views.ts';
import { type ActionChoices, renderAsked } from './fields.ts';

const names = ['subject', 'action', 'place', 'state'] as const;

/** The filters in the address. */
export type GrantFilters = Readonly<Partial<Record<(typeof names)[number], string>>>;

const states = [
  { value: '', label: 'Any' },
  { value: 'in_force', label: 'In force' },
  { value: 'ended', label: 'Ended' },
];

export function readFilters(visit: PluginVisit): GrantFilters {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = visit.query(name)?.trim();
      return value ? [[name, value]] : [];
    }),
  );
}

/** The list's query for the filters. @param actionId that of the action in a filter */
export function toQuery({ subject, place, state }: GrantFilters, actionId: string | undefined) {
  const isInForce = { in_force: 'true', ended: 'false' }[state ?? ''];
  return { subject, selector: place, action_id: actionId, in_force: isInForce };
}

export function assignmentsPath(id: string, query: object): LocalPath {
  return pagePath(pages.plugin, { id }, { tab: 'assignments', ...query });
}

/** A form that works without scripts. */
export function renderFilters({ id }: ShownPlugin, filters: GrantFilters, actions: ActionChoices): Html {
  const form = 'filter';
  return html`<form class="filters" method="get" action="${pagePath(pages.plugin, { id })}" role="search" aria-label="Assignments">
<input type="hidden" name="tab" value="assignments">
${renderAsked({ form, name: 'subject', label: 'Who (name or id)', value: filters.subject, key: 'f' })}
${renderFormField({ form, name: 'action', label: 'Action', kind: 'select', choices: [{ value: '', label: 'Any' }, ...actions.choices], isCut: actions.isCut, value: filters.action })}
${renderAsked({ form, name: 'place', label: 'Where (name or id)', value: filters.place })}
${renderFormField({ form, name: 'state', label: 'State', kind: 'select', choices: states, value: filters.state ?? '' })}
<button class="button" type="submit">Filter</button>
${Object.keys(filters).length > 0 ? html`<a class="button button-plain" href="${assignmentsPath(id, {})}">Clear</a>` : null}
</form>`;
}
