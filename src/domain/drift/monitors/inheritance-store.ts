import { type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';

/** An instance that should inherit a monitor and does not have one. */
export interface Heir {
  readonly instanceId: string;
  readonly teamId: string | null;
  readonly environmentId: string | null;
  readonly parentId: string;
  readonly schedule: ScheduleSpec;
  readonly enabled: boolean;
}

/**
 * Deployed instances without a monitor whose environment or template has one. If both have one, that of the environment comes first. The
 * monitor of a template of the whole installation is inherited by instances of all teams. It takes share locks on these monitors, so that
 * none changes or ends before the commit.
 */
export function lockHeirs(
  em: Em,
  { parentId, instanceId, limit }: { parentId?: string; instanceId?: string; limit: number },
): Promise<Heir[]> {
  let query = db(em)
    .selectFrom('instances as i')
    .innerJoin('runs as r', 'r.id', 'i.deployedRunId')
    .innerJoin('drift_monitors as m', (join) =>
      join.on((eb) =>
        eb.or([
          eb.and([eb('m.scope', '=', 'environment'), eb('m.environmentId', '=', eb.ref('i.environmentId'))]),
          eb.and([eb('m.scope', '=', 'template'), eb('m.templateId', '=', eb.ref('i.templateId'))]),
        ]),
      ),
    )
    .where('i.deletedAt', 'is', null)
    .where('m.deletedAt', 'is', null)
    .where('r.operation', '<>', 'destroy')
    .where((eb) => eb.or([eb('m.teamId', 'is', null), eb('m.teamId', '=', eb.ref('i.teamId'))]))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('drift_monitors as own')
            .whereRef('own.instanceId', '=', 'i.id')
            .where('own.deletedAt', 'is', null)
            .select('own.id'),
        ),
      ),
    )
    .select(['i.id as instanceId', 'i.teamId', 'i.environmentId', 'm.id as parentId', 'm.schedule', 'm.enabled'])
    .orderBy('i.id')
    .orderBy('m.scope')
    .limit(limit)
    .forShare('m');
  if (parentId !== undefined) query = query.where('m.id', '=', parentId);
  if (instanceId !== undefined) query = query.where('i.id', '=', instanceId);
  return query.execute();
}

/** Gives the schedule of a monitor to the next heirs that have another one, and returns their ids. */
export async function followParent(em: Em, parentId: string, limit: number): Promise<string[]> {
  const differing = db(em)
    .selectFrom('drift_monitors as child')
    .innerJoin('drift_monitors as parent', 'parent.id', 'child.inheritedFrom')
    .where('parent.id', '=', parentId)
    .where('child.deletedAt', 'is', null)
    .where(
      (eb) =>
        sql<SqlBool>`(${eb.ref('child.schedule')}, ${eb.ref('child.enabled')}) is distinct from (${eb.ref('parent.schedule')}, ${eb.ref('parent.enabled')})`,
    )
    .orderBy('child.id')
    .limit(limit)
    .select('child.id');
  const rows = await db(em)
    .updateTable('drift_monitors as m')
    .from('drift_monitors as p')
    .whereRef('p.id', '=', 'm.inheritedFrom')
    .where('m.id', 'in', differing)
    .set((eb) => ({
      schedule: sql`${eb.ref('p.schedule')}`,
      enabled: eb.ref('p.enabled'),
      revision: eb('m.revision', '+', 1),
    }))
    .returning('m.id')
    .execute();
  return rows.map(({ id }) => id);
}

/** The next deleted monitors, after an id, that were inherited from a monitor. */
export async function listEndedHeirs(em: Em, parentId: string, after: string, limit: number): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('drift_monitors')
    .where('inheritedFrom', '=', parentId)
    .where('deletedAt', 'is not', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .select('id')
    .execute();
  return rows.map(({ id }) => id);
}
