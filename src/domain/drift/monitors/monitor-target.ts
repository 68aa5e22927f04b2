import type { Em } from '#database/database.ts';
import { findForChange, lockRows } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { lockInstance } from '#domain/instances/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { findTeamOrInstallation } from '#domain/teams/store.ts';
import { DriftMonitor } from '../entity.ts';

/** A monitor with its owner. */
export interface MonitorTarget extends Ownership, Archivable {
  readonly monitor: DriftMonitor;
}

/**
 * A monitor by its id; undefined if it or its owner is deleted. `lock` takes share locks on the owners, and then locks the instance and the
 * monitor.
 */
export async function findMonitor(em: Em, id: string, lock = false): Promise<MonitorTarget | undefined> {
  const known = await em.findOne(DriftMonitor, { id, deletedAt: null });
  const owner = known && (await findOwner(em, known, lock));
  if (!known || !owner) return undefined;
  const target = ({ organizationId, teamId, archived }: typeof owner, monitor: DriftMonitor): MonitorTarget => ({
    organizationId,
    teamId,
    archived,
    monitor,
  });
  if (!lock) return target(owner, known);
  if (known.instanceId) await lockInstance(em, known.instanceId);
  await lockMonitor(em, id);
  const monitor = await findForChange(em, DriftMonitor, { id, deletedAt: null });
  return monitor ? target(owner, monitor) : undefined;
}

/**
 * Locks the row of a monitor until the commit, so that recording a scan and changing the monitor or one of its findings happen one after
 * the other.
 */
export async function lockMonitor(em: Em, id: string): Promise<void> {
  const row = db(em).selectFrom('drift_monitors').where('id', '=', id).select('id');
  await lockRows(row, ['drift_monitors'], 'change').execute();
}

/** The owners of a monitor, in one query; undefined if the monitor is deleted. */
export function findMonitorOwner(em: Em, id: string): Promise<Ownership | undefined> {
  return db(em)
    .selectFrom('drift_monitors as m')
    .leftJoin('teams as t', 't.id', 'm.teamId')
    .where('m.id', '=', id)
    .where('m.deletedAt', 'is', null)
    .select(['m.teamId', 't.organizationId'])
    .executeTakeFirst();
}

function findOwner(em: Em, { environmentId, teamId }: DriftMonitor, lock: boolean) {
  return environmentId ? findEnvironment(em, environmentId, lock) : findTeamOrInstallation(em, teamId ?? null, lock);
}
