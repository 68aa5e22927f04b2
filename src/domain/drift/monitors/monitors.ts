import { brokenConstraint } from '#database/errors.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { deleteOwned } from '#domain/shared/ownership-graph/deletion.ts';
import { findDifference, refuseStale } from '#domain/shared/revisions.ts';
import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import { DriftMonitor } from '../entity.ts';
import type { IgnoreRule } from './ignore-rules.ts';
import type { MonitorPlace } from './monitor-place.ts';
import type { MonitorTarget } from './monitor-target.ts';
import { scheduleMonitor, unscheduleMonitor } from './scheduling.ts';

export interface NewMonitor {
  readonly schedule: ScheduleSpec;
  readonly enabled: boolean;
}

/** Fields that are absent stay as they are. */
export interface MonitorChange {
  readonly schedule?: ScheduleSpec | undefined;
  readonly enabled?: boolean | undefined;
  readonly expectedRevision: number | undefined;
}

const placeConstraints: readonly (string | undefined)[] = [
  'drift_monitors_instance_unique',
  'drift_monitors_environment_unique',
  'drift_monitors_template_unique',
];

/**
 * Creates a monitor of an instance, an environment or a template. After the commit, the instances of an environment or a template inherit
 * monitors from it (`inheritance.ts`). The caller has locked the place.
 * @throws Conflict if the place has a monitor already, or is archived
 */
export async function createMonitor(
  tx: Transaction,
  place: MonitorPlace,
  { schedule, enabled }: NewMonitor,
  by: Principal,
): Promise<DriftMonitor> {
  refuseArchived(place);
  const { scope, instanceId, environmentId, templateId, teamId, organizationId } = place;
  const owner = { teamId, environmentId, templateId, instanceId };
  const present = await tx.em.findOne(DriftMonitor, { scope, ...owner, deletedAt: null });
  if (present) throw exists(scope, ` (the drift monitor ${present.id})`);
  const monitor = tx.em.create(DriftMonitor, { id: newId(), scope, ...owner, schedule, enabled, ignoreRules: [] });
  tx.em.persist(monitor);
  try {
    await tx.em.flush();
  } catch (error) {
    if (!placeConstraints.includes(brokenConstraint(error))) throw error;
    throw exists(scope, '');
  }
  scheduleMonitor(tx, monitor);
  const owners = { teamId, organizationId };
  tx.publish({ type: 'drift_monitor.created', subjectId: monitor.id, owners, data: { by: by.name, scope } });
  return monitor;
}

function exists(scope: DriftMonitor['scope'], which: string): Conflict {
  const message = `${scope}_id: the ${scope} has a drift monitor already${which}: change that one`;
  return new Conflict(message, 'drift_monitor_exists');
}

/**
 * Changes the fields that are present; the caller has locked the row. A changed inherited monitor no longer follows the monitor from which
 * it was inherited.
 * @throws Conflict for a stale revision, or something archived
 */
export function updateMonitor(
  tx: Transaction,
  target: MonitorTarget,
  { expectedRevision, ...wanted }: MonitorChange,
  by: Principal,
): void {
  const { monitor } = target;
  refuseArchived(target);
  refuseStale(monitor, expectedRevision);
  const { schedule, enabled } = monitor;
  const { after, isEmpty } = findDifference({ schedule, enabled }, wanted);
  if (isEmpty) return;
  Object.assign(monitor, after);
  monitor.inheritedFrom = null;
  monitor.revision += 1;
  scheduleMonitor(tx, monitor);
  publish(tx, target, { type: 'drift_monitor.changed', data: { by: by.name, enabled: monitor.enabled } });
}

/** Replaces the ignore rules. The next scan applies them. @throws Conflict for a stale revision, or something archived */
export function setIgnoreRules(
  target: MonitorTarget,
  rules: readonly IgnoreRule[],
  expectedRevision: number | undefined,
): void {
  refuseArchived(target);
  refuseStale(target.monitor, expectedRevision);
  const { isEmpty } = findDifference({ rules: target.monitor.ignoreRules }, { rules: [...rules] });
  if (isEmpty) return;
  target.monitor.ignoreRules = [...rules];
  target.monitor.revision += 1;
}

/** The refusal to delete an inherited monitor, because its instance would inherit it again; null for other monitors. */
export function findDeletionRefusal({ inheritedFrom }: Pick<DriftMonitor, 'inheritedFrom'>): Refusal | null {
  if (!inheritedFrom) return null;
  return {
    code: 'drift_monitor_inherited',
    message:
      'the monitor is inherited, so it would come back: turn it off instead, or delete the monitor of the environment or template from which it is inherited',
  };
}

/**
 * Deletes a monitor, with those that inherit from it, and returns its last revision. Its findings are no longer listed. The caller has
 * locked the row.
 */
export async function deleteMonitor(
  tx: Transaction,
  target: MonitorTarget,
  expectedRevision: number | undefined,
  by: Principal,
): Promise<number> {
  const { id, scope, revision } = target.monitor;
  throwIfRefused(findDeletionRefusal(target.monitor));
  refuseStale({ revision }, expectedRevision);
  unscheduleMonitor(tx, id);
  publish(tx, target, { type: 'drift_monitor.deleted', data: { by: by.name, scope } });
  return deleteOwned(tx.em, 'drift_monitor', { id }, () => true);
}

type Published =
  | { type: 'drift_monitor.changed'; data: { by: string; enabled: boolean } }
  | { type: 'drift_monitor.deleted'; data: { by: string; scope: DriftMonitor['scope'] } };

function publish(tx: Transaction, { teamId, organizationId, monitor }: MonitorTarget, event: Published): void {
  tx.publish({ ...event, subjectId: monitor.id, owners: { teamId, organizationId } });
}
