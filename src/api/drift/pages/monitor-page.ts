import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { renderAction, renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { renderAge, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLinkedText } from '#api/web/linked-text.ts';
import { renderLive } from '#api/web/live/live.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { endSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import { describeSchedule } from '#domain/shared/schedules/describe-schedule.ts';
import { nextTimes, shortestGap } from '#domain/shared/schedules/next-times.ts';
import { getIgnoreRules, listMonitorScans } from '../scan-operations.ts';
import type { ScanView } from '../views.ts';
import { renderFindings } from './findings-list.ts';
import { renderHealth } from './labels.ts';
import { markOf } from './monitor-changes.ts';
import { driftCrumb, type MonitorSubject, monitorPath, readMonitor, readWatchedNames, renderPlace } from './views.ts';

type MonitorVisit = Visit<{ id: string }>;

/** Shows a monitor: its health, its findings, their trend over its scans, and its ignore rules. */
export async function showMonitor(visit: MonitorVisit): Promise<FastifyReply> {
  const monitor = await readMonitor(visit);
  const scans = await visit.read(listMonitorScans, {
    params: visit.params,
    query: { limit: '30', cursor: visit.query('tab') === 'scans' ? visit.query('cursor') : undefined },
  });
  const tab = visit.query('tab') === 'scans' ? 'scans' : visit.query('tab') === 'rules' ? 'rules' : 'findings';
  const link = (query: Query) => pagePath(pages.driftMonitor, visit.params, query);
  const parts = {
    findings: () =>
      renderFindings(visit, {
        filter: { monitor_id: monitor.id },
        link,
        suppression: actionOf(monitor, 'set_ignore_rules'),
        none: explainNone(monitor),
      }),
    scans: async () => renderScans(visit, monitor, scans),
    rules: () => renderRules(visit, monitor),
  };
  return visit.show({
    title: `Drift monitor of ${monitor.name}`,
    main: html`<div class="page page-wide">
${renderConfirmation(visit, pages.driftMonitor)}
${renderLive(
  {
    stream: pagePath(pages.driftMonitorChanges, visit.params, { mark: markOf(monitor) }),
    address: link({ tab, status: visit.query('status'), cursor: visit.query('cursor') }),
    again: '20s',
  },
  html`${renderPageHead({
    title: `Monitor of ${monitor.name}`,
    crumbs: [driftCrumb],
    beside: renderHealth(monitor),
    actions: renderMonitorActions(monitor),
    history: ['drift_monitors', monitor.id],
  })}
${renderScanRefusal(monitor)}
${renderFailure(monitor)}
${renderLaterChange(monitor)}
${renderChangedInputs(monitor)}
<div class="panel">${await renderMonitorFacts(visit, monitor)}</div>
${monitor.scope === 'instance' && tab !== 'scans' ? renderTrend(scans.scans) : null}
${renderTabs('Parts of the monitor', [
  { label: 'Findings', path: link({}), isCurrent: tab === 'findings' },
  { label: 'Scans', path: link({ tab: 'scans' }), isCurrent: tab === 'scans' },
  { label: 'Ignore rules', path: link({ tab: 'rules' }), isCurrent: tab === 'rules' },
])}
${await parts[tab]()}`,
)}
</div>`,
  });
}

/** Explains an empty list. Only a scan with a result proves that nothing differs. */
function explainNone({ scope, last_failure: failure, last_success_at: success, ...monitor }: MonitorSubject): string {
  if (scope !== 'instance') return 'The instances that inherit this monitor have none.';
  if (failure) return 'There may be drift: the last scan had no result.';
  if (monitor.stale) return 'There may be drift: the last three scheduled scans did not succeed.';
  if (success === null && monitor.scan_refusal) return 'No scan has run: the instance cannot be scanned.';
  if (success === null) return 'No scan has run yet.';
  if (monitor.instance_changed_at) return 'The last scan found no drift. The instance changed after it.';
  return 'The last scan found no drift.';
}

function actionOf({ actions }: MonitorSubject, wanted: string): Action {
  return actions.find(({ name }) => name === wanted) ?? { name: wanted, allowed: false, reason: null };
}

function renderMonitorActions({ id, actions, scope }: MonitorSubject): Html {
  const params = { id };
  return renderActions(
    actions.filter(({ name }) => name !== 'scan' || scope === 'instance'),
    {
      scan: { label: 'Scan now', icon: 'refresh-cw', tone: 'primary', path: pagePath(pages.scanForDrift, params) },
      update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editDriftMonitor, params) },
      delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteDriftMonitor, params) },
    },
  );
}

/** Explains why the instance of the monitor cannot be scanned. */
function renderScanRefusal({ scan_refusal: refusal }: MonitorSubject): Html | null {
  if (!refusal) return null;
  return html`<div class="notice notice-problem" role="note"><p>Cannot be scanned: ${renderLinkedText(endSentence(refusal.message))}</p></div>`;
}

function renderFailure({ last_failure: failure, stale }: MonitorSubject): Html | null {
  if (!failure && stale)
    return html`<div class="notice notice-problem" role="note"><p>The last three scheduled scans did not succeed. Scans stop when a run needs the instance: check whether runs keep it busy, then scan now.</p></div>`;
  if (!failure) return null;
  return html`<div class="notice notice-problem" role="note"><p>The last scan had no result, ${renderAge(failure.at)}: <span class="foreign">${failure.message}</span>${failure.run_id ? html` · ${renderRunLink(failure.run_id)}` : null}</p></div>`;
}

/**
 * Warns if a run changed the instance after the last scan with a result, because that scan says nothing about the instance as it is now.
 */
function renderLaterChange({ instance_changed_at: changed, last_success_at: success }: MonitorSubject): Html | null {
  if (!changed || !success) return null;
  return html`<p class="notice">${renderIcon('hourglass')}<span>The last scan with a result ran ${renderAge(success)}. A run changed the instance after it, ${renderAge(changed)}.</span></p>`;
}

/** Says that inputs have changed since the deployment. A scan compares only with the deployment, so it does not report them. */
function renderChangedInputs({ inputs_changed: isChanged, instance_id: id }: MonitorSubject): Html | null {
  if (!isChanged || id === null) return null;
  const path = pagePath(pages.instance, { id }, { tab: 'sharing' });
  return html`<p class="notice">${renderIcon('refresh-cw')}<span>Inputs changed since the deployment: <a href="${path}">outputs that it was deployed with</a> have changed. Scans compare with the deployment, so this is not drift. A new run reads the new values.</span></p>`;
}

async function renderMonitorFacts(visit: MonitorVisit, monitor: MonitorSubject): Promise<Html> {
  const names = await readWatchedNames(visit, [monitor]);
  return renderFacts(
    [
      ['Watches', html`the ${monitor.scope} ${renderPlace(monitor, names)}`],
      ['Scans', describeSchedule(monitor.schedule)],
      ['Next scan', renderNextScan(monitor)],
      ['Scanning now', monitor.scan_run_id && renderRunLink(monitor.scan_run_id)],
      ['Last scan', monitor.last_scan_at && renderAge(monitor.last_scan_at)],
      ['Last success', monitor.last_success_at && renderAge(monitor.last_success_at)],
      ['Open findings', monitor.scope === 'instance' ? String(monitor.open_findings) : null],
      ['Suppressed', monitor.suppressed_findings > 0 ? String(monitor.suppressed_findings) : null],
      [
        'Inherited from',
        monitor.inherited_from &&
          html`<a href="${monitorPath(monitor.inherited_from)}">the monitor of its environment or template</a>`,
      ],
    ],
    { isWide: true },
  );
}

/**
 * The time of the next scan. Monitors that inherit an interval scan at different times within one interval. Those that inherit a time of
 * day all scan at that time.
 */
function renderNextScan({ enabled, schedule, scope, id, ...monitor }: MonitorSubject): Html | string | null {
  if (!enabled) return 'Off';
  if (monitor.scan_refusal) return 'None: it cannot be scanned';
  const isShared = scope !== 'instance' && 'every' in schedule;
  const [next] = nextTimes(schedule, id, new Date(), 1);
  if (!isShared) return next ? renderTime(next.toISOString()) : null;
  const latest = new Date(Date.now() + shortestGap(schedule) * 1_000);
  return html`each instance at a time of its own, by ${renderTime(latest.toISOString())}`;
}

type Scans = Awaited<ReturnType<typeof readScans>>;
const readScans = (visit: MonitorVisit) => visit.read(listMonitorScans, { params: visit.params, query: {} });

function renderScans(visit: MonitorVisit, monitor: MonitorSubject, { scans, next_cursor: next }: Scans): Html {
  const link = (query: Query) => pagePath(pages.driftMonitor, visit.params, { tab: 'scans', ...query });
  const number = (value: number | null) => (value === null ? null : String(value));
  return html`<div class="list-panel">${
    scans.length > 0
      ? renderTable<Scans['scans'][number]>({
          caption: 'Scans',
          rows: scans,
          columns: [
            { label: 'Scan', kind: 'main', cell: ({ run_id: id }) => renderRunLink(id) },
            { label: 'Status', cell: renderRunStatus },
            { label: 'By', cell: ({ trigger }) => (trigger === 'schedule' ? 'schedule' : 'request') },
            { label: 'Found', kind: 'number', cell: ({ found }) => number(found) },
            { label: 'Ignored', kind: 'number', cell: ({ ignored }) => number(ignored) },
            { label: 'Failed checks', kind: 'number', cell: ({ failing_checks: failing }) => number(failing) },
            { label: 'Opened', kind: 'number', cell: ({ opened }) => number(opened) },
            { label: 'Resolved', kind: 'number', cell: ({ resolved }) => number(resolved) },
            { label: 'Age', cell: ({ created_at: at }) => renderAge(at) },
          ],
        })
      : renderEmpty('No scans yet', explainNoScans(monitor))
  }</div>
${renderPages({ cursor: visit.query('cursor'), next }, link)}`;
}

function explainNoScans({ scan_refusal: refusal }: MonitorSubject): string {
  if (refusal) return 'The page says above why the instance cannot be scanned.';
  return 'The page says above when the next scan runs. You can also start one now.';
}

async function renderRules(visit: MonitorVisit, monitor: MonitorSubject): Promise<Html> {
  const { rules } = await visit.read(getIgnoreRules, { params: visit.params });
  return html`<div class="panel stack">${
    rules.length === 0
      ? html`<p>Nothing is ignored.</p>`
      : html`<ul class="rows">${rules.map(({ address, path }) => html`<li class="row"><p class="row-title mono foreign">${address}: ${path}</p></li>`)}</ul>`
  }
<p>${renderAction(actionOf(monitor, 'set_ignore_rules'), { label: 'Edit rules', path: pagePath(pages.driftIgnoreRules, visit.params) })}</p></div>`;
}

type Scan = z.input<typeof ScanView>;

const [width, height, gap] = [12, 48, 3];

/**
 * How many deviations the latest scans found, oldest first. A scan without a result makes a gap. Null if fewer than two scans have results.
 */
function renderTrend(newestFirst: readonly Scan[]): Html | null {
  const scans = newestFirst.filter(({ finished_at: end }) => end !== null).toReversed();
  const told = scans.flatMap(({ found }) => found ?? []);
  const [first, last] = [told[0], told.at(-1)];
  if (told.length < 2 || first === undefined || last === undefined) return null;
  const max = Math.max(1, ...told);
  const label = `Drift in the last ${scans.length} scans: from ${first} to ${last}, at most ${Math.max(...told)}`;
  return html`<section class="section" aria-labelledby="trend"><div class="section-head"><h2 id="trend">Trend</h2><p class="muted">${label}.</p></div>
<div class="panel"><svg class="drift-trend" role="img" aria-label="${label}" viewBox="0 0 ${scans.length * (width + gap)} ${height}" width="${scans.length * (width + gap)}" height="${height}">${scans.map((scan, index) => renderBar(scan, index, max))}</svg></div></section>`;
}

function renderBar({ found, status }: Scan, index: number, max: number): Html {
  const x = index * (width + gap);
  if (found === null)
    return html`<circle class="drift-trend-gap" cx="${x + width / 2}" cy="${height - 4}" r="2"><title>${status}</title></circle>`;
  const size = found === 0 ? 2 : Math.max(4, Math.round((found / max) * height));
  return html`<rect class="${found === 0 ? 'drift-trend-none' : 'drift-trend-some'}" x="${x}" y="${height - size}" width="${width}" height="${size}" rx="2"><title>${found}</title></rect>`;
}
