import type { Em } from '#database/database.ts';
import { lockRows } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { lockInstance } from '#domain/instances/store.ts';
import { findInstanceToChange } from '#domain/instances/targets.ts';
import { findTemplate, shareTemplate } from '#domain/registry/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { findTeamOrInstallation } from '#domain/teams/store.ts';
import { DriftMonitor } from '../entity.ts';
import type { MonitorScope } from '../model.ts';

/** A monitor with its owner. */
export interface MonitorTarget extends Ownership, Archivable {
  readonly monitor: DriftMonitor;
}

/** What a monitor is to be set for. */
export interface MonitorPlace extends Ownership, Archivable {
  readonly scope: MonitorScope;
  readonly instanceId: string | null;
  readonly environmentId: string | null;
  readonly templateId: string | null;
}

export interface WantedPlace {
  readonly instance_id?: string | undefined;
  readonly environment_id?: string | undefined;
  readonly template_id?: string | undefined;
}

/** A monitor by its id; undefined if it or its owner is deleted. `lock` shares the owners, and locks the instance and then its row. */
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
  const monitor = await em.findOne(DriftMonitor, { id, deletedAt: null }, { refresh: true });
  return monitor ? target(owner, monitor) : undefined;
}

/** Locks the row of a monitor until the commit: who records a scan, and who changes the monitor or a finding, take their turns. */
export async function lockMonitor(em: Em, id: string): Promise<void> {
  const row = db(em).selectFrom('drift_monitors').where('id', '=', id).select('id');
  await lockRows(row, ['drift_monitors'], 'change').execute();
}

/** Who owns a monitor, in one query; undefined if the monitor is deleted. */
export function findMonitorOwner(em: Em, id: string): Promise<Ownership | undefined> {
  return db(em)
    .selectFrom('drift_monitors as m')
    .leftJoin('teams as t', 't.id', 'm.team_id')
    .where('m.id', '=', id)
    .where('m.deleted_at', 'is', null)
    .select(['m.team_id as teamId', 't.organization_id as organizationId'])
    .executeTakeFirst();
}

function findOwner(em: Em, { environmentId, teamId }: DriftMonitor, lock: boolean) {
  return environmentId ? findEnvironment(em, environmentId, lock) : findTeamOrInstallation(em, teamId ?? null, lock);
}

/** What a new monitor is set for, with its owner; undefined if it does not exist. `lock` shares what it belongs to. */
export async function findPlace(
  em: Em,
  wanted: WantedPlace,
  { callerId, lock }: { callerId: string; lock: boolean },
): Promise<MonitorPlace | undefined> {
  const none = { instanceId: null, environmentId: null, templateId: null };
  if (wanted.environment_id !== undefined) {
    const environment = await findEnvironment(em, wanted.environment_id, lock);
    return environment && { ...ownerOf(environment), ...none, scope: 'environment', environmentId: environment.id };
  }
  if (wanted.template_id !== undefined) {
    const template = await findTemplate(em, wanted.template_id);
    if (template && lock) await shareTemplate(em, wanted.template_id);
    return template && { ...ownerOf(template), ...none, scope: 'template', templateId: template.template.id };
  }
  const id = wanted.instance_id ?? '';
  const instance = await findInstanceToChange({ em, params: { id }, callerId, lock });
  if (!instance) return undefined;
  const environmentId = await readEnvironmentId(em, id);
  return { ...ownerOf(instance), ...none, scope: 'instance', instanceId: id, environmentId };
}

function ownerOf({ organizationId, teamId, archived }: Ownership & Archivable): Ownership & Archivable {
  return { organizationId, teamId, archived };
}

async function readEnvironmentId(em: Em, instanceId: string): Promise<string | null> {
  const row = await db(em)
    .selectFrom('instances')
    .where('id', '=', instanceId)
    .select('environment_id as environmentId')
    .executeTakeFirst();
  return row?.environmentId ?? null;
}
