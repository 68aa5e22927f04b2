import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { getRun } from '#api/runs/operations.ts';
import { RunView } from '#api/runs/views.ts';
import { findMonitor } from '#domain/drift/monitors/monitor-target.ts';
import { setIgnoreRules } from '#domain/drift/monitors/monitors.ts';
import { listScans } from '#domain/drift/scans/list-store.ts';
import { startScan } from '#domain/drift/scans/start-scan.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { monitorAccess } from './access.ts';
import { ignoreRulesActions } from './actions.ts';
import { SetIgnoreRules } from './bodies.ts';
import { MonitorParams } from './monitor-operations.ts';
import { ScanView, toScan } from './views.ts';

export const scan = command({
  id: 'drift_monitors.scan',
  route: 'POST /api/v1/drift-monitors/:id/scan',
  summary: 'Scan now: start a run that looks for drift and changes nothing',
  description: 'The answer is the run. The Idempotency-Key is the id of its workflow.',
  params: MonitorParams,
  responses: { 202: RunView },
  at: getRun,
  access: monitorAccess.scan,
  target: ({ em, params, lock }) => findMonitor(em, params.id, lock),
  targetName: 'drift monitor',
  idempotency: 'optional',
  resource: 'runs',
  audit: 'drift_monitor.scan_requested',
  handle: async ({ tx, key, target, principal, services }) => {
    const id = await startScan(tx, services, target, { key: key ?? '', trigger: 'request', requester: principal });
    return { id, after: { monitorId: target.monitor.id }, revision: 1 };
  },
});

export const listMonitorScans = read({
  id: 'drift_monitors.list_scans',
  route: 'GET /api/v1/drift-monitors/:id/scans',
  summary: 'List the scans of a drift monitor, newest first, with what each of them found',
  params: MonitorParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('scans', ScanView) },
  access: monitorAccess.nestedRead,
  target: ({ em, params }) => findMonitor(em, params.id),
  targetName: 'drift monitor',
  handle: async ({ em, params, query }) => {
    const page = await listScans(em, params.id, query);
    return { scans: page.items.map(toScan), next_cursor: page.nextCursor };
  },
});

const IgnoreRulesView = z
  .object({
    rules: z.array(z.object({ address: z.string(), path: z.string() })),
    revision: z.int().describe("The monitor's."),
    actions: ignoreRulesActions.view,
  })
  .meta({ id: 'DriftIgnoreRules' });

export const getIgnoreRules = read({
  id: 'drift_monitors.get_ignore_rules',
  route: 'GET /api/v1/drift-monitors/:id/ignore-rules',
  summary: 'Read the ignore rules of a drift monitor',
  description: 'The rules of the monitor from which it is inherited apply as well.',
  params: MonitorParams,
  responses: { 200: IgnoreRulesView },
  access: monitorAccess.nestedRead,
  target: ({ em, params }) => findMonitor(em, params.id),
  targetName: 'drift monitor',
  handle: async ({ target, operations, principal }) => ({
    rules: target.monitor.ignoreRules,
    revision: target.monitor.revision,
    actions: ignoreRulesActions.describe({ operations, principal }, target),
  }),
});

export const replaceIgnoreRules = command({
  id: 'drift_monitors.set_ignore_rules',
  route: 'PUT /api/v1/drift-monitors/:id/ignore-rules',
  summary: 'Replace the ignore rules of a drift monitor; the next scan follows them',
  params: MonitorParams,
  body: SetIgnoreRules,
  responses: { 200: IgnoreRulesView },
  at: getIgnoreRules,
  access: monitorAccess.nestedWrite,
  target: ({ em, params, lock }) => findMonitor(em, params.id, lock),
  targetName: 'drift monitor',
  idempotency: 'none',
  audit: 'drift_monitor.ignore_rules_changed',
  handle: async ({ target, body }) => {
    const before = { rules: target.monitor.ignoreRules };
    setIgnoreRules(target, body.rules, body.expected_revision);
    const { id, revision, ignoreRules: rules } = target.monitor;
    return { id, revision, before, after: { rules } };
  },
});
