import type { z } from 'zod';
import type { InstanceView, ListedInstanceView } from '#api/instances/views.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';

/** A visit of a page of one instance. */
export type InstanceVisit = Visit<{ id: string }>;

export type Instance = z.input<typeof InstanceView>;
type ListedInstance = z.input<typeof ListedInstanceView>;

/** Says that scans have found drift. */
export const driftedBadge = renderStatusBadge({ word: 'Drifted', icon: 'triangle-alert', tone: 'approval' });

/** Says that outputs with which the instance was deployed have changed. */
export const inputsChangedBadge = renderStatusBadge({ word: 'Inputs changed', icon: 'refresh-cw', tone: 'approval' });

/** Says that a run may have changed the instance without recording everything. */
export const unrecordedBadge = renderStatusBadge({
  word: 'Unrecorded changes',
  icon: 'triangle-alert',
  tone: 'failed',
});

/** A table of instances. It has no column for the environment if all are in the same one. */
export async function renderInstanceTable(
  visit: Visit,
  instances: readonly ListedInstance[],
  { inEnvironment = false }: { readonly inEnvironment?: boolean } = {},
): Promise<Html> {
  const names = await readNames(visit.em, {
    templates: instances.map((each) => each.template_id),
    environments: instances.map((each) => each.environment_id),
    teams: instances.map((each) => each.team_id),
  });
  const nameOf = (id: string | null) => (id === null ? null : (names.get(id)?.name ?? id));
  return renderTable<ListedInstance>({
    caption: 'Instances',
    rows: instances,
    rowId: ({ id }) => `i-${id}`,
    columns: [
      {
        label: 'Instance',
        kind: 'main',
        cell: ({ id, name, drifted, inputs_changed: changed, unrecorded_since: unrecorded }) =>
          html`<a class="foreign" href="${pagePath(pages.instance, { id })}">${name}</a>${drifted ? html` ${driftedBadge}` : null}${changed ? html` ${inputsChangedBadge}` : null}${unrecorded ? html` ${unrecordedBadge}` : null}`,
      },
      {
        label: 'Template',
        cell: ({ template_id: id }) =>
          html`<a class="foreign" href="${pagePath(pages.template, { id })}">${nameOf(id)}</a>`,
      },
      ...(inEnvironment
        ? []
        : [
            {
              label: 'Environment',
              cell: ({ environment_id: id }: ListedInstance) =>
                id === null
                  ? null
                  : html`<a class="foreign" href="${pagePath(pages.environment, { id })}">${nameOf(id)}</a>`,
            },
            { label: 'Team', kind: 'minor' as const, cell: ({ team_id: id }: ListedInstance) => nameOf(id) },
          ]),
      { label: 'Resources', kind: 'number', cell: ({ resource_count: count }) => String(count) },
      { label: 'State', kind: 'number', cell: ({ state_serial: serial }) => (serial === 0 ? null : `#${serial}`) },
      {
        label: 'Deployed by',
        cell: ({ deployed_run_id: id }) => (id === null ? null : renderRunLink(id)),
      },
      {
        label: 'Busy with',
        cell: ({ locked_by_run_id: id }) => (id === null ? null : renderRunLink(id)),
      },
      { label: 'Created', kind: 'minor', cell: ({ created_at: at }) => renderAge(at) },
    ],
  });
}
