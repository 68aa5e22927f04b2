import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { listMonitors, type MonitorDetails, readMonitor } from '#domain/drift/monitors/list-store.ts';
import { findPlace } from '#domain/drift/monitors/monitor-place.ts';
import { findMonitor, type MonitorTarget } from '#domain/drift/monitors/monitor-target.ts';
import { createMonitor, deleteMonitor, updateMonitor } from '#domain/drift/monitors/monitors.ts';
import { readScanRefusals } from '#domain/runs/admission/scans/scan-refusal.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { monitorAccess } from './access.ts';
import { monitorActions } from './actions.ts';
import { CreateMonitor, UpdateMonitor } from './bodies.ts';
import { ownerLevels, ownerParameters, toOwnerFilter } from './owner-filter.ts';
import { ListedMonitorView, MonitorView, toMonitor } from './views.ts';

export const MonitorParams = z.strictObject({ id: Id });

export const list = readList({
  id: 'drift_monitors.list',
  route: 'GET /api/v1/drift-monitors',
  summary: 'List the drift monitors that you may read, newest first',
  query: z.strictObject({
    ...pageQuery,
    ...ownerParameters,
    template_id: Id.optional().describe('The monitor of the template, and those of its instances.'),
  }),
  responses: { 200: pageOf('drift_monitors', ListedMonitorView) },
  access: monitorAccess.list,
  owners: ownerLevels,
  handle: async ({ em, principal, query }) => {
    const filter = { ...toOwnerFilter(query), templateId: query.template_id };
    const page = await listMonitors(em, principal, filter, query);
    const refusals = await readInstanceRefusals(em, page.items);
    const monitors = page.items.map((monitor) => toMonitor(monitor, refusals.get(monitor.instanceId ?? '')));
    return { drift_monitors: monitors, next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'drift_monitors.get',
  route: 'GET /api/v1/drift-monitors/:id',
  summary: 'Read a drift monitor, with its health',
  params: MonitorParams,
  responses: { 200: MonitorView },
  access: monitorAccess.get,
  target: ({ em, params }) => findMonitor(em, params.id),
  targetName: 'drift monitor',
  handle: async ({ em, params, operations, principal, target }) => {
    const monitor = await readMonitor(em, params.id);
    if (!monitor) throw new NotFound('drift monitor');
    const { organizationId, teamId, archived } = target;
    const refusals = await readInstanceRefusals(em, [monitor]);
    const instanceRefusal = refusals.get(monitor.instanceId ?? '') ?? null;
    const owned = { ...monitor, organizationId, teamId, archived, instanceRefusal };
    return {
      ...toMonitor(monitor, instanceRefusal),
      actions: monitorActions.describe({ operations, principal }, owned),
    };
  },
});

/** Why the instances of monitors cannot be scanned, by id. */
function readInstanceRefusals(em: Em, monitors: readonly MonitorDetails[]): Promise<Map<string, Refusal>> {
  return readScanRefusals(
    em,
    monitors.flatMap(({ instanceId }) => instanceId ?? []),
  );
}

export const create = command({
  id: 'drift_monitors.create',
  route: 'POST /api/v1/drift-monitors',
  summary: 'Watch an instance, or all instances of an environment or a template, for drift',
  description: 'There is at most one monitor for each instance, environment and template.',
  body: CreateMonitor,
  responses: { 201: MonitorView },
  at: get,
  access: monitorAccess.create,
  target: ({ em, body, callerId, lock }) => findPlace(em, body, { callerId, lock }),
  targetName: 'the instance, the environment or the template',
  idempotency: 'none',
  audit: 'drift_monitor.created',
  handle: async ({ tx, target, body, principal }) => {
    const monitor = await createMonitor(tx, target, body, principal);
    const { id, revision, instanceId, environmentId, templateId } = monitor;
    return { id, revision, after: { ...describe(monitor), instanceId, environmentId, templateId } };
  },
});

export const update = command({
  id: 'drift_monitors.update',
  route: 'PATCH /api/v1/drift-monitors/:id',
  summary: 'Change the schedule of a drift monitor, or turn it on or off; what is left out stays',
  description: 'An inherited monitor that is changed no longer follows the one that it was inherited from.',
  params: MonitorParams,
  body: UpdateMonitor,
  responses: { 200: MonitorView },
  at: get,
  access: monitorAccess.update,
  target: ({ em, params, lock }) => findMonitor(em, params.id, lock),
  targetName: 'drift monitor',
  idempotency: 'none',
  audit: 'drift_monitor.updated',
  handle: async ({ tx, target, body, principal }) => {
    const before = describe(target.monitor);
    const { expected_revision: expectedRevision, ...change } = body;
    updateMonitor(tx, target, { ...change, expectedRevision }, principal);
    const { id, revision } = target.monitor;
    return { id, revision, before, after: describe(target.monitor) };
  },
});

export const remove = command({
  id: 'drift_monitors.delete',
  route: 'DELETE /api/v1/drift-monitors/:id',
  summary: 'Delete a drift monitor with those that inherit from it; their findings are no longer listed',
  params: MonitorParams,
  responses: { 204: Nothing },
  access: monitorAccess.delete,
  target: ({ em, params, lock }) => findMonitor(em, params.id, lock),
  targetName: 'drift monitor',
  idempotency: 'none',
  ifMatch: true,
  audit: 'drift_monitor.deleted',
  handle: async ({ tx, target, principal, expectedRevision }) => {
    const before = describe(target.monitor);
    const revision = await deleteMonitor(tx, target, expectedRevision, principal);
    return { id: target.monitor.id, before, revision };
  },
});

function describe({ scope, schedule, enabled }: MonitorTarget['monitor']) {
  return { scope, schedule, enabled };
}
