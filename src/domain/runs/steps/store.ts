import { type Expression, expressionBuilder, type Kysely, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare, prepareChange } from '#domain/db.ts';
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
    .where('id', '=', (eb) => eb.selectFrom('runs').where('id', '=', parameter('runId')).select('instanceId'))
    .select('id')
    .forUpdate(),
);

/** Locks the row of the instance of an attempt until the commit, and returns its state's serial and the run of the attempt. */
export const lockInstanceOfAttempt = prepare((db, parameter: ParameterOf<{ attemptId: string }>) =>
  db
    .selectFrom('run_attempts as a')
    .innerJoin('runs as r', 'r.id', 'a.runId')
    .innerJoin('instances as i', 'i.id', 'r.instanceId')
    .where('a.id', '=', parameter('attemptId'))
    .select(['a.runId', 'i.stateSerial'])
    .forUpdate('i'),
);

/** The rows on which the next step of a run depends, in one statement. What its status makes irrelevant is null. */
export const selectStepFacts = prepare((db, parameter: ParameterOf<{ runId: string }>) =>
  db
    .selectFrom('runs')
    .innerJoin('instances as i', 'i.id', 'runs.instanceId')
    .leftJoin('run_attempts as a', 'a.id', 'runs.attemptId')
    .where('runs.id', '=', parameter('runId'))
    .select((eb) => {
      const isOpen = eb.and([eb('a.outcome', 'is', null), eb('a.workerId', 'is not', null)]);
      const isQueued = eb('runs.status', '=', 'queued');
      const isWriter = eb('runs.operation', 'in', writingOperations);
      const isScan = eb('runs.operation', '=', 'scan');
      return [
        'i.stateSerial',
        'i.deployedRunId',
        eb
          .selectFrom('run_plans as plan')
          .whereRef('plan.runId', '=', 'runs.id')
          .select('plan.stateSerial')
          .as('planSerial'),
        eb.case().when(isOpen).then(workerLiveness(eb)).end().as('workerLiveness'),
        eb
          .selectFrom('run_attempts as lost')
          .whereRef('lost.runId', '=', 'runs.id')
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
  return eb.exists(eb.selectFrom('run_reviews as v').whereRef('v.runId', '=', 'runs.id').select('v.id'));
}

/** `SlotQueue` of a run. */
function selectSlotQueue(eb: OverRun) {
  return jsonBuildObject({
    holder: selectSlotHolder(eb),
    first: queuedWriters(expressionBuilder<Tables>(), eb.ref('runs.instanceId')).select('ahead.id').$asScalar(),
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
    .innerJoin('runs as writer', 'writer.id', 'held.runId')
    .whereRef('held.instanceId', '=', 'runs.instanceId')
    .where('writer.status', '<>', 'pending_approval')
    .select('writer.id');
}

/** The scans of the instance of a run that have not ended. */
function unfinishedScans(eb: OverRun) {
  return eb
    .selectFrom('runs as scan')
    .whereRef('scan.instanceId', '=', 'runs.instanceId')
    .where('scan.operation', '=', sql.lit('scan' as const))
    .where('scan.finishedAt', 'is', null)
    .select('scan.id');
}

/** The first queued run that wants to write to an instance. */
function queuedWriters(from: Pick<Kysely<Tables>, 'selectFrom'>, instanceId: string | Expression<string>) {
  return from
    .selectFrom('runs as ahead')
    .where('ahead.instanceId', '=', instanceId)
    .where('ahead.finishedAt', 'is', null)
    .where('ahead.status', '=', 'queued')
    .where('ahead.operation', 'in', writingOperations)
    .orderBy('ahead.instancePosition')
    .limit((eb) => eb.lit(1));
}

const selectFirstWriter = prepare((db, parameter: ParameterOf<{ instanceId: string }>) =>
  queuedWriters(db, parameter('instanceId')).select([
    'ahead.idempotencyKey as workflowId',
    'ahead.instancePosition as position',
  ]),
);

/** The first queued run that wants to write to an instance. */
export async function findFirstWriter(em: Em, instanceId: string) {
  const [first] = await selectFirstWriter(em, { instanceId });
  return first;
}

/** Frees the slot of a run. Returns whether the run had one. */
export async function deleteSlot(em: Em, runId: string): Promise<boolean> {
  const { numDeletedRows } = await db(em).deleteFrom('instance_slots').where('runId', '=', runId).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes what applying the plan of a run needs; the plan itself stays. */
export const discardPlanArtifact = prepareChange((db, parameter: ParameterOf<{ runId: string }>) =>
  db
    .updateTable('run_plans')
    .set({ artifact: sql.lit(null) })
    .where('runId', '=', parameter('runId'))
    .where('artifact', 'is not', null),
);
