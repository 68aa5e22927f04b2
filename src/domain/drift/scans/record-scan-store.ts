import type { Insertable } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Expectation } from '#domain/runs/plans/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { IgnoreRule } from '../monitors/ignore-rules.ts';

/** The monitor for which a run scans; undefined if the run is not such a scan, or if its result is already recorded. */
export function findUnrecordedScan(em: Em, runId: string) {
  return db(em)
    .selectFrom('drift_scans')
    .where('runId', '=', runId)
    .where('recordedAt', 'is', null)
    .select('monitorId')
    .executeTakeFirst();
}

/** A scan that has ended, with the present deployment and state of its instance. */
export type EndedScan = NonNullable<Awaited<ReturnType<typeof readEndedScan>>>;

export function readEndedScan(em: Em, runId: string) {
  return db(em)
    .selectFrom('runs as r')
    .innerJoin('drift_scans as s', 's.runId', 'r.id')
    .innerJoin('instances as i', 'i.id', 'r.instanceId')
    .leftJoin('run_plans as p', 'p.runId', 'r.id')
    .leftJoin('instance_slots as slot', (join) =>
      join.onRef('slot.instanceId', '=', 'r.instanceId').onRef('slot.acquiredAt', '<=', 'r.finishedAt'),
    )
    .where('r.id', '=', runId)
    .select([
      'r.id',
      'r.status',
      'r.statusReason as reason',
      'r.statusDetail as detail',
      'r.tool',
      'r.templateVersion',
      'r.finishedAt',
      'r.instanceId',
      'p.changes',
      'p.sections',
      'p.stateSerial',
      's.deployedRunId',
      'i.deployedRunId as presentDeployment',
      'i.stateSerial as presentSerial',
      'slot.runId as slotHeldBy',
    ])
    .executeTakeFirst();
}

/** The ignore rules of a monitor, and of the monitor from which it is inherited. */
export async function readIgnoreRules(em: Em, monitorId: string): Promise<IgnoreRule[]> {
  const rows = await db(em)
    .selectFrom('drift_monitors as own')
    .innerJoin('drift_monitors as m', (join) =>
      join.on((eb) => eb.or([eb('m.id', '=', eb.ref('own.id')), eb('m.id', '=', eb.ref('own.inheritedFrom'))])),
    )
    .where('own.id', '=', monitorId)
    .where('m.deletedAt', 'is', null)
    .select('m.ignoreRules as rules')
    .execute();
  return rows.flatMap(({ rules }) => rules);
}

export interface NewEvidence
  extends Omit<Insertable<Tables['drift_evidence']>, 'before' | 'after' | 'tool' | 'observedAt'> {
  readonly before: JsonValue;
  readonly after: JsonValue;
  readonly tool: { name: string; version: string } | null;
  readonly observedAt: Date;
}

const rowsAtOnce = 500;

/** Inserts rows without entities, which would keep copies of large values. */
export async function insertEvidence(em: Em, evidence: readonly NewEvidence[]): Promise<void> {
  for (let start = 0; start < evidence.length; start += rowsAtOnce) {
    const rows = evidence.slice(start, start + rowsAtOnce).map(({ before, after, tool, ...row }) => ({
      ...row,
      before: json(before),
      after: json(after),
      tool: tool && json(tool),
    }));
    await db(em).insertInto('drift_evidence').values(rows).execute();
  }
}

/** The state and the deployment of an instance that a scan saw, and whether it knew which values it expected. */
interface ObservedState {
  readonly stateSerial: number | null;
  readonly deployedRunId: string | null;
  /** Why the scan did not know which value it expected. */
  readonly expectation?: Expectation | null | undefined;
}

/** A key for an observed state. The serial alone is not enough: it stays the same over deployments if the instance has no state file. */
export function observedStateOf({ stateSerial, deployedRunId, expectation }: ObservedState): string {
  return `${stateSerial ?? 0} ${deployedRunId ?? ''} ${expectation ?? ''}`;
}

/** The keys of the states that pieces of evidence concern, by the ids of the evidence. */
export async function readObservedStates(em: Em, evidenceIds: readonly string[]): Promise<Map<string, string>> {
  if (evidenceIds.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('drift_evidence')
    // A monitor may have more findings than a statement may have parameters.
    .where('id', '=', (eb) => eb.fn.any(eb.val([...evidenceIds])))
    .select(['id', 'stateSerial', 'deployedRunId', 'expectation'])
    .execute();
  return new Map(rows.map((row) => [row.id, observedStateOf(row)]));
}
