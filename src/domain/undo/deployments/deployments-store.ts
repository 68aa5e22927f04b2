import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { writingOperations } from '#domain/shared/vocabulary/runs.ts';

/** A run that changed an instance, as it is stored. */
export type DeploymentRow = Awaited<ReturnType<typeof readDeploymentsSince>>[number];

/**
 * The runs that changed an instance, in order, beginning with the last one before `run`. A run that failed while it applied counts as a
 * change. An apply without changes counts too, because it deployed its inputs.
 */
export function readDeploymentsSince(em: Em, run: { instanceId: string; instancePosition: number }, max: number) {
  return selectDeploymentsSince(em, run)
    .orderBy('r.instancePosition')
    .limit(max)
    .select([
      'r.id',
      'r.instancePosition as position',
      'r.operation',
      'r.templateVersionId as versionId',
      'r.templateVersion as version',
      'r.sealedInputs',
      'r.undoes',
      'r.requestedById',
      'r.responsibleUserId',
    ])
    .execute();
}

function selectDeploymentsSince(
  em: Em,
  { instanceId, instancePosition }: { instanceId: string; instancePosition: number },
) {
  const before = selectDeployments(em, instanceId)
    .where('r.instancePosition', '<', instancePosition)
    .select((eb) => eb.fn.max('r.instancePosition').as('position'));
  return selectDeployments(em, instanceId).where((eb) =>
    eb('r.instancePosition', '>=', eb.fn.coalesce(before, eb.val(instancePosition))),
  );
}

function selectDeployments(em: Em, instanceId: string) {
  return db(em)
    .selectFrom('runs as r')
    .where('r.instanceId', '=', instanceId)
    .where('r.operation', 'in', writingOperations)
    .where((eb) => {
      const applied = eb
        .selectFrom('run_attempts as a')
        .whereRef('a.runId', '=', 'r.id')
        .where('a.phase', '=', 'applying')
        .where('a.outcome', '=', 'applied')
        .select(sql.lit(1).as('one'));
      // Earlier releases did not record an apply without changes as the deployment, so one that is later than the deployment does not
      // count.
      const unchanged = eb
        .selectFrom('run_attempts as u')
        .innerJoin('instances as i', 'i.id', 'r.instanceId')
        .innerJoin('runs as deployed', 'deployed.id', 'i.deployedRunId')
        .whereRef('u.runId', '=', 'r.id')
        .where('u.outcome', '=', 'unchanged')
        .where('r.operation', '=', 'apply')
        .where('r.status', '=', 'succeeded')
        .whereRef('r.instancePosition', '<=', 'deployed.instancePosition')
        .select(sql.lit(1).as('one'));
      return eb.or([eb('r.stateSerialAfter', 'is not', null), eb.exists(applied), eb.exists(unchanged)]);
    });
}

/** The total size in bytes of the sealed inputs that `readDeploymentsSince` would read. */
export async function sizeOfDeploymentsSince(
  em: Em,
  run: { instanceId: string; instancePosition: number },
): Promise<number> {
  const { bytes } = await selectDeploymentsSince(em, run)
    .select(sql<string>`coalesce(sum(octet_length(r.sealed_inputs)), 0)`.as('bytes'))
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

/** Whether a run changed its instance, so that there is something to undo. */
export async function hasDeployed(em: Em, run: { id: string; instanceId: string }): Promise<boolean> {
  const found = await selectDeployments(em, run.instanceId)
    .where('r.id', '=', run.id)
    .select('r.id')
    .executeTakeFirst();
  return found !== undefined;
}

/** The last destroy that changed the instance after a run; undefined if none did. `isRemoved`: nothing is deployed since then. */
export async function findDestructionSince(em: Em, { instanceId, instancePosition }: RunPlace) {
  const found = await selectDeployments(em, instanceId)
    .innerJoin('instances as changed', 'changed.id', 'r.instanceId')
    .where('r.operation', '=', 'destroy')
    .where('r.instancePosition', '>', instancePosition)
    .orderBy('r.instancePosition', 'desc')
    .select(['r.id', 'changed.deployedRunId'])
    .executeTakeFirst();
  return found && { runId: found.id, isRemoved: found.deployedRunId === found.id };
}

/** The last successful apply before a destroy of its instance or, without one, the last apply; undefined if there was none. */
export async function findDeploymentBefore(em: Em, destroyRunId: string): Promise<string | undefined> {
  const destroy = await findPlace(em, destroyRunId);
  if (!destroy) return undefined;
  const found = await selectDeployments(em, destroy.instanceId)
    .where('r.operation', '=', 'apply')
    .where('r.instancePosition', '<', destroy.instancePosition)
    .orderBy((eb) => eb('r.status', '=', 'succeeded'), 'desc')
    .orderBy('r.instancePosition', 'desc')
    .select('r.id')
    .executeTakeFirst();
  return found?.id;
}

/** The instance of a run, and the position of the run among the runs of that instance. */
export function findPlace(em: Em, runId: string): Promise<RunPlace | undefined> {
  return db(em)
    .selectFrom('runs')
    .where('id', '=', runId)
    .select(['instanceId', 'instancePosition'])
    .executeTakeFirst();
}

interface RunPlace {
  readonly instanceId: string;
  readonly instancePosition: number;
}

/** The maximum length of a chain of undos that is followed. */
const maxUndos = 100;

/**
 * The run by which another one is undone now; null if that undo was itself undone. The chain of undos of undos is followed to its end.
 * @param undoneBy the last run that undid it; null if none did
 */
export async function findPresentUndo(em: Em, undoneBy: string | null): Promise<string | null> {
  if (undoneBy === null) return null;
  const { rows } = await sql<{ id: string; undos: number }>`
    with recursive chain (id, undos) as (
      select ${undoneBy}::uuid, 0
      union all
      select r.undone_by, c.undos + 1 from chain c join runs r on r.id = c.id
        where r.undone_by is not null and c.undos < ${maxUndos}::int)
    select id, undos from chain order by undos desc limit 1`.execute(db(em));
  const [last] = rows;
  return last && last.undos % 2 === 0 ? last.id : null;
}

/** The ids of those runs that have succeeded. */
export async function findSucceeded(em: Em, ids: readonly (string | null)[]): Promise<ReadonlySet<string>> {
  const known = ids.filter((id) => id !== null);
  const found = await db(em)
    .selectFrom('runs')
    .where('id', '=', (eb) => eb.fn.any(eb.val(known)))
    .where('status', '=', 'succeeded')
    .select('id')
    .execute();
  return new Set(found.map(({ id }) => id));
}

/** A run that may still change an instance; undefined if there is none. */
export function findRunInFlight(em: Em, instanceId: string): Promise<{ id: string } | undefined> {
  return db(em)
    .selectFrom('runs as r')
    .where('r.instanceId', '=', instanceId)
    .where('r.operation', 'in', writingOperations)
    .where('r.finishedAt', 'is', null)
    .orderBy('r.instancePosition')
    .select('r.id')
    .executeTakeFirst();
}

/** The present state and deployment of an instance; undefined if it was deleted. */
export function readInstanceNow(em: Em, instanceId: string) {
  return db(em)
    .selectFrom('instances as i')
    .leftJoin('runs as deployed', 'deployed.id', 'i.deployedRunId')
    .where('i.id', '=', instanceId)
    .where('i.deletedAt', 'is', null)
    .select(['i.stateSerial', 'i.deployedRunId'])
    .select('deployed.instancePosition as deployedPosition')
    .executeTakeFirst();
}
