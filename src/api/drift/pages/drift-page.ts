import type { FastifyReply } from 'fastify';
import { inputsChangedBadge } from '#api/environments/pages/instance-table.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { renderAction } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLinkedText } from '#api/web/linked-text.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { pluralize, toSentence } from '#api/web/text.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { countMonitors } from '#domain/drift/monitors/list-store.ts';
import { describeSchedule } from '#domain/shared/schedules/describe-schedule.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { suppressMany } from '../finding-operations.ts';
import { create, list } from '../monitor-operations.ts';
import { toOwnerFilter } from '../owner-filter.ts';
import { renderFindings } from './findings-list.ts';
import { renderHealth, type ShownMonitor } from './labels.ts';
import { monitorPath, nameOf, readWatchedNames } from './views.ts';

/** Shows the drift that was found, and the monitors. */
export async function showDrift(visit: Visit): Promise<FastifyReply> {
  const isMonitors = visit.query('tab') === 'monitors';
  const scope = scopeQuery(visit.scope);
  const filter = { ...scope, instance_id: visit.query('instance_id') };
  const link = (query: Query) => pagePath(pages.drift, {}, { ...filter, ...query });
  const teams = await readTeamsForNewInScope(visit);
  const path = pagePath(pages.newDriftMonitor, {}, scope);
  const newMonitor = renderAction(visit.mayDo(create, ...teams), {
    label: 'New monitor',
    icon: 'plus',
    tone: 'primary',
    path,
  });
  const suppression = visit.mayDo(suppressMany, ...teams);
  return visit.show({
    title: 'Drift',
    main: html`<div class="page page-wide">
${renderPageHead({
  title: 'Drift',
  below: 'Differences between what was deployed and what exists now. Scans find them and change nothing.',
  actions: html`<div class="actions">${newMonitor}</div>`,
})}
${renderConfirmation(visit, pages.drift)}
${renderTabs('Drift', [
  { label: 'Findings', path: pagePath(pages.drift, {}, scope), isCurrent: !isMonitors },
  { label: 'Monitors', path: pagePath(pages.drift, {}, { ...scope, tab: 'monitors' }), isCurrent: isMonitors },
])}
${isMonitors ? await renderMonitors(visit, scope) : await renderFindings(visit, { filter, link, suppression, none: await explainNone(visit, scope) })}
</div>`,
  });
}

/** Explains an empty list. Only a scan with a result proves that nothing differs. */
async function explainNone(visit: Visit, scope: Query): Promise<string> {
  const { drift_monitors: monitors } = await visit.read(list, { query: { ...scope, limit: '1' } });
  if (monitors.length === 0)
    return 'There is no monitor yet. A monitor scans on a schedule, and the drift it finds appears here.';
  const { all, unscanned } = await countMonitors(visit.em, visit.principal, toOwnerFilter(scope));
  if (all === 0) return 'There may be drift: no instance is scanned yet.';
  const clean = 'The last complete scans found no drift.';
  if (unscanned === 0) return `${clean} The monitors show when they ran.`;
  const lacking = `${pluralize(unscanned, 'monitor')} of ${all} had no complete scan yet`;
  return unscanned === all ? `There may be drift: ${lacking}.` : `${clean} There may be more drift: ${lacking}.`;
}

async function renderMonitors(visit: Visit, scope: Query): Promise<Html> {
  const cursor = visit.query('cursor');
  const { drift_monitors: monitors, next_cursor: next } = await visit.read(list, { query: { ...scope, cursor } });
  const names = await readWatchedNames(visit, monitors);
  const link = (query: Query) => pagePath(pages.drift, {}, { ...scope, tab: 'monitors', ...query });
  return html`<div class="list-panel">${
    monitors.length > 0
      ? renderTable({ caption: 'Monitors', rows: monitors, rowId: ({ id }) => `m-${id}`, columns: columnsWith(names) })
      : renderEmpty(
          'No monitors yet',
          'A monitor scans one instance, or all instances of an environment or a template, on a schedule.',
          html`<a class="button button-primary" href="${pagePath(pages.newDriftMonitor)}">Create the first one</a>`,
        )
  }</div>
${renderPages({ cursor, next }, link)}`;
}

/** Why an enabled monitor does not scan. */
function renderScanRefusal({ enabled, scan_run_id: running, scan_refusal: refusal }: ShownMonitor): Html | null {
  return enabled && !running && refusal
    ? html` <span class="muted">${renderLinkedText(toSentence(refusal.message))}</span>`
    : null;
}

const scopeWords = { instance: 'Instance', environment: 'Environment', template: 'Template' } as const;

function columnsWith(names: Names) {
  return [
    {
      label: 'Watches',
      kind: 'main' as const,
      cell: (monitor: ShownMonitor) =>
        html`<a class="foreign" href="${monitorPath(monitor.id)}">${nameOf(monitor, names)}</a>`,
    },
    { label: 'Kind', cell: ({ scope }: ShownMonitor) => scopeWords[scope] },
    {
      label: 'Health',
      cell: (monitor: ShownMonitor) =>
        html`${renderHealth(monitor)}${renderScanRefusal(monitor)}${monitor.inputs_changed ? html` ${inputsChangedBadge}` : null}`,
    },
    {
      label: 'Open',
      kind: 'number' as const,
      cell: ({ scope, open_findings: count }: ShownMonitor) => (scope === 'instance' ? String(count) : null),
    },
    { label: 'Scans', cell: ({ schedule }: ShownMonitor) => describeSchedule(schedule) },
    { label: 'Last scan', cell: ({ last_scan_at: at }: ShownMonitor) => at && renderAge(at) },
  ];
}
