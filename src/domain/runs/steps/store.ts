import { type Expression, expressionBuilder, type Kysely, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { selectHolds } from '#domain/holds/store.ts';
import { writingOperations } from '#domain/shared/vocabulary/runs.ts';
import { poolAccessOfRun, workerLiveness } from '#domain/workers/placement-store.ts';
import { isOpenToSeveralTeams } from '#domain/workers/pools/shares-store.ts';
import { selectEnvironmentPolicy } from '../approval/policy-store.ts';
import { selectApprovalFacts } from '../approval/store.ts';
import { type OverRun, runsAhead, selectSlotHolder } from '../details-store.ts';

/** Locks the row of the instance of a run until the commit. */
export const lockInstanceOfRun = prepare((db, parameter: ParameterOf<{ runId: string }>) =>
  db
    .selectFrom('instances')
    .where('id', '=', (eb) => eb.selectFrom('runs').where('id', '=', parameter('runId')).select('instance_id'))
    .select('id')
    .forUpdate(),
);

/** Locks the row of the instance of an attempt until the commit, and returns the run of the attempt. */
export const lockInstanceOfAttempt = prepare((db, parameter: ParameterOf<{ attemptId: string }>) =>
  db
    .selectFrom('run_attempts as a')
    .innerJoin('runs as r', 'r.id', 'a.run_id')
    .innerJoin('instances as i', 'i.id', 'r.instance_id')
    .where('a.id', '=', parameter('attemptId'))
    .select('a.run_id as runId')
    .forUpdate('i'),
);

/** The rows on which the next step of a run depends, in one statement. What its status makes irrelevant is null. */
export const selectStepFacts = prepare((db, parameter: ParameterOf<{ runId: string }>) =>
  db
    .selectFrom('runs')
    .innerJoin('instances as i', 'i.id', 'runs.instance_id')
    .leftJoin('run_attempts as a', 'a.id', 'runs.attempt_id')
    .where('runs.id', '=', parameter('runId'))
    .select((eb) => {
      const isOpen = eb.and([eb('a.outcome', 'is', null), eb('a.worker_id', 'is not', null)]);
      const isQueued = eb('runs.status', '=', 'queued');
      const isWriter = eb('runs.operation', 'in', writingOperations);
      const isScan = eb('runs.operation', '=', 'scan');
      return [
        'i.state_serial as stateSerial',
        'i.deployed_run_id as deployedRunId',
        eb
          .selectFrom('run_plans as plan')
          .whereRef('plan.run_id', '=', 'runs.id')
          .select('plan.state_serial')
          .as('planSerial'),
        eb.case().when(isOpen).then(workerLiveness(eb)).end().as('workerLiveness'),
        eb
          .selectFrom('run_attempts as lost')
          .whereRef('lost.run_id', '=', 'runs.id')
          .whereRef('lost.phase', '=', 'a.phase')
          .where('lost.outcome', '=', 'lost')
          .select((of) => of.cast<number>(of.fn.countAll(), 'integer').as('count'))
          .$asScalar()
          .$notNull()
          .as('lostAttempts'),
        selectEnvironmentPolicy(eb).as('presentPolicy'),
        selectHolds(eb).as('holds'),
        isOpenToSeveralTeams(eb.ref('runs.pool')).as('isPoolShared'),
        eb.case().when(isReviewed(eb)).then(selectApprovalFacts(eb)).end().as('approval'),
        eb.case().when(isQueued).then(poolAccessOfRun(eb)).end().as('poolAccess'),
        eb
          .case()
          .when(eb.and([isQueued, isWriter]))
          .then(selectSlotQueue(eb))
          .end()
          .as('slotQueue'),
        eb
          .case()
          .when(eb.and([isQueued, isScan]))
          .then(eb.exists(selectExecutingWriter(eb)).$castTo<boolean>())
          .end()
          .as('isChanging'),
        eb.exists(unfinishedScans(eb)).$castTo<boolean>().as('hasScans'),
      ];
    }),
);

/** Reviews, and all that decides whether they count, are read only if there are any. */
function isReviewed(eb: OverRun) {
  return eb.exists(eb.selectFrom('run_reviews as v').whereRef('v.run_id', '=', 'runs.id').select('v.id'));
}

/** `SlotQueue` of a run. */
function selectSlotQueue(eb: OverRun) {
  return jsonBuildObject({
    holder: selectSlotHolder(eb),
    first: queuedWriters(expressionBuilder<Tables>(), eb.ref('runs.instance_id')).select('ahead.id').$asScalar(),
    position: runsAhead(eb)
      .select((of) => of.fn.countAll<number>().as('count'))
      .$asScalar()
      .$notNull(),
  });
}

/** The run that holds the slot of the instance of a run, unless it waits for approval. */
function selectExecutingWriter(eb: OverRun) {
  return eb
    .selectFrom('instance_slots as held')
    .innerJoin('runs as writer', 'writer.id', 'held.run_id')
    .whereRef('held.instance_id', '=', 'runs.instance_id')
    .where('writer.status', '<>', 'pending_approval')
    .select('writer.id');
}

/** The scans of the instance of a run that have not ended. */
function unfinishedScans(eb: OverRun) {
  return eb
    .selectFrom('runs as scan')
    .whereRef('scan.instance_id', '=', 'runs.instance_id')
    .where('scan.operation', '=', sql.lit('scan' as const))
    .where('scan.finished_at', 'is', null)
    .select('scan.id');
}

/** The first queued run that wants to write to an instance. */
function queuedWriters(from: Pick<Kysely<Tables>, 'selectFrom'>, instanceId: string | Expression<string>) {
  return from
    .selectFrom('runs as ahead')
    .where('ahead.instance_id', '=', instanceId)
    .where('ahead.finished_at', 'is', null)
    .where('ahead.status', '=', 'queued')
    .where('ahead.operation', 'in', writingOperations)
    .orderBy('ahead.instance_position')
    .limit((eb) => eb.lit(1));
}

const selectFirstWriter = prepare((db, parameter: ParameterOf<{ instanceId: string }>) =>
  queuedWriters(db, parameter('instanceId')).select([
    'ahead.idempotency_key as workflowId',
    'ahead.instance_position as position',
  ]),
);

/** The first queued run that wants to write to an instance. */
export async function findFirstWriter(em: Em, instanceId: string) {
  const [first] = await selectFirstWriter(em, { instanceId });
  return first;
}

/** Frees the slot that a run holds; returns whether it held one. */
export async function deleteSlot(em: Em, runId: string): Promise<boolean> {
  const { numDeletedRows } = await db(em).deleteFrom('instance_slots').where('run_id', '=', runId).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes what applying the plan of a run needs; the plan itself stays. */
export async function discardPlanArtifact(em: Em, runId: string): Promise<void> {
  await db(em)
    .updateTable('run_plans')
    .set({ artifact: null })
    .where('run_id', '=', runId)
    .where('artifact', 'is not', null)
    .execute();
}
