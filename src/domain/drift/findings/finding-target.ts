import type { Em } from '#database/database.ts';
import { findForChange } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { DriftFinding } from '../entity.ts';
import { findMonitor, type MonitorTarget } from '../monitors/monitor-target.ts';

/** A finding with its owner and its monitor. */
export interface FindingTarget extends MonitorTarget {
  readonly finding: DriftFinding;
}

/** Several findings. A command on them needs access to the owners of all. */
export interface FindingsTarget extends Ownership {
  readonly targets: readonly FindingTarget[];
}

/**
 * A finding by its id; undefined if its monitor or its owner is deleted. `lock` locks the row of the monitor, which protects all its
 * findings.
 */
export async function findFinding(em: Em, id: string, lock = false): Promise<FindingTarget | undefined> {
  const known = await em.findOne(DriftFinding, { id });
  const monitor = known && (await findMonitor(em, known.monitorId, lock));
  if (!known || !monitor) return undefined;
  // Retention may have removed it before the lock.
  const finding = lock ? await findForChange(em, DriftFinding, { id }) : known;
  return finding ? { ...monitor, finding } : undefined;
}

/** The findings with these ids; undefined if one of them does not exist. */
export async function findFindings(em: Em, ids: readonly string[], lock: boolean): Promise<FindingsTarget | undefined> {
  const known = await em.find(DriftFinding, { id: { $in: [...ids] } });
  if (known.length < new Set(ids).size) return undefined;
  // They are locked in the order of their monitors, so that two requests about the same monitors cannot deadlock.
  const inOrder = [...known].sort((one, other) => (one.monitorId < other.monitorId ? -1 : 1));
  const targets: FindingTarget[] = [];
  for (const { id } of inOrder) {
    const target = await findFinding(em, id, lock);
    if (!target) return undefined;
    targets.push(target);
  }
  const named = targets.map(({ organizationId, teamId }) => ({ organizationId, teamId }));
  return { organizationId: null, teamId: null, ...named[0], named, targets };
}

/** The owners of a finding, in one query; undefined if its monitor is deleted. */
export function findFindingOwner(em: Em, id: string): Promise<Ownership | undefined> {
  return db(em)
    .selectFrom('drift_findings as f')
    .innerJoin('drift_monitors as m', 'm.id', 'f.monitorId')
    .leftJoin('teams as t', 't.id', 'f.teamId')
    .where('f.id', '=', id)
    .where('m.deletedAt', 'is', null)
    .select(['f.teamId', 't.organizationId'])
    .executeTakeFirst();
}
