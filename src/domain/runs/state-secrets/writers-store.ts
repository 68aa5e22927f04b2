import { type ExpressionBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { writingOperations } from '#domain/shared/vocabulary/runs.ts';

/** The runs that have, or may have, written the content of the state of an instance. */

/** The maximum number of writers whose secrets are opened; the latest ones are taken. */
export const maxWriters = 200;

/** A run that wrote into a state, with its sealed inputs. They are empty if the run was deleted. */
export interface StateWriter {
  readonly id: string;
  readonly sealedInputs: Uint8Array;
  /** Whether it is the last deployment, or began later: all of its inputs may be in the state. */
  readonly isSinceDeployment: boolean;
  readonly isDeployed: boolean;
}

/**
 * The runs that began to apply to an instance since it was last empty, newest first, and always the run of its deployment. One more than
 * `maxWriters` shows that there are others.
 */
export async function findStateWriters(em: Em, instanceId: string): Promise<StateWriter[]> {
  const writers = await selectWriters(em, instanceId).where(isSinceEmpty).execute();
  // A deployment that changed nothing has not begun to apply.
  const deployed = await selectRuns(em, instanceId).whereRef('r.id', '=', 'i.deployedRunId').execute();
  return [...writers, ...deployed.filter(({ id }) => writers.every((writer) => writer.id !== id))];
}

/** The runs that began to apply to an instance before it had the state after this one, latest first. */
export function findEarlierWriters(em: Em, instanceId: string, serial: number): Promise<StateWriter[]> {
  return selectWriters(em, instanceId)
    .where((eb) => eb(eb.fn.coalesce('r.stateSerialBefore', sql.lit(0)), '<', serial))
    .execute();
}

type Writing = ExpressionBuilder<Tables & { r: Tables['runs']; i: Tables['instances'] }, 'r' | 'i'>;

function selectWriters(em: Em, instanceId: string) {
  return selectRuns(em, instanceId)
    .where('r.operation', 'in', writingOperations)
    .where((eb) => eb.exists(selectApplying(eb)))
    .orderBy('r.instancePosition', 'desc')
    .limit(maxWriters + 1);
}

function selectRuns(em: Em, instanceId: string) {
  return db(em)
    .selectFrom('runs as r')
    .innerJoin('instances as i', 'i.id', 'r.instanceId')
    .leftJoin('runs as d', 'd.id', 'i.deployedRunId')
    .where('r.instanceId', '=', instanceId)
    .select(['r.id', 'r.sealedInputs'])
    .select([
      sql<boolean>`coalesce(r.instance_position >= d.instance_position, true)`.as('isSinceDeployment'),
      sql<boolean>`coalesce(r.id = d.id, false)`.as('isDeployed'),
    ]);
}

/**
 * Whether the run wrote a state after the last one that held nothing. A run that recorded no state counts too: it may have written
 * something.
 */
function isSinceEmpty(eb: Writing) {
  const lastEmpty = sql`(select max(s.serial) from state_versions s where s.instance_id = i.id and s.resource_count = 0)`;
  return eb.or([eb('r.stateSerialAfter', 'is', null), sql<boolean>`r.state_serial_after > coalesce(${lastEmpty}, 0)`]);
}

function selectApplying(eb: Writing) {
  return eb
    .selectFrom('run_attempts as a')
    .whereRef('a.runId', '=', 'r.id')
    .where('a.phase', '=', 'applying')
    .where('a.workerId', 'is not', null)
    .select('a.id');
}
