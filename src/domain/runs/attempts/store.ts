import { type ExpressionBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { AttemptPhase } from '#domain/shared/vocabulary/runs.ts';
import type { Isolation } from '#domain/workers/model.ts';
import { demandsSandbox } from '#domain/workers/placement-store.ts';

/** Whether an attempt `a` can be claimed: it is the current one of its running run, has not ended, and has no worker. */
function isClaimable(eb: ExpressionBuilder<Tables & { a: Tables['run_attempts'] }, 'a' | 'runs'>) {
  return eb.and([
    eb('a.workerId', 'is', null),
    eb('a.outcome', 'is', null),
    eb('runs.id', '=', eb.ref('a.runId')),
    eb('runs.attemptId', '=', eb.ref('a.id')),
    eb('runs.status', '=', 'running'),
  ]);
}

const sandbox = sql.lit<Isolation>('sandbox');
const none = sql.lit<Isolation>('none');

type Claim = { attemptId: string; workerId: string; isolation: Isolation };

/**
 * Gives an attempt to a worker in one statement. The isolation that the worker claims counts only if its own row confirms it. A
 * run shows the weakest isolation of its attempts.
 */
const claimAttemptRow = prepare((db, parameter: ParameterOf<Claim>) =>
  db
    .with('claimant', (query) =>
      query.selectNoFrom((eb) => {
        const worker = eb
          .selectFrom('workers')
          .where('id', '=', parameter('workerId'))
          .where('isolation', '=', 'sandbox');
        const isContained = eb.and([eb(sandbox, '=', parameter('isolation')), eb.exists(worker.select('id'))]);
        return [eb.case().when(isContained).then(sandbox).else(none).end().as('isolation')];
      }),
    )
    .with('claimed', (query) =>
      query
        .updateTable('run_attempts as a')
        .from(['runs', 'claimant'])
        .set((eb) => ({
          workerId: parameter('workerId'),
          startedAt: sql<string>`clock_timestamp()`,
          isolation: eb.ref('claimant.isolation'),
        }))
        .where('a.id', '=', parameter('attemptId'))
        .where(isClaimable)
        .where((eb) => eb.or([eb('claimant.isolation', '=', sandbox), eb.not(demandsSandbox(eb))]))
        .returning(['a.runId', 'claimant.isolation']),
    )
    .updateTable('runs')
    .from('claimed')
    .set((eb) => ({
      waitingOn: null,
      revision: eb('runs.revision', '+', 1),
      isolation: eb.case().when('runs.isolation', '=', none).then(none).else(eb.ref('claimed.isolation')).end(),
    }))
    .whereRef('runs.id', '=', 'claimed.runId')
    .returning(['runs.id as runId', 'claimed.isolation']),
);

/** Gives an attempt to a worker. Returns its run, and the isolation that counts for the worker; null if the worker did not get it. */
export async function claimForWorker(em: Em, claim: Claim): Promise<{ runId: string; isolation: Isolation } | null> {
  const [claimed] = await claimAttemptRow(em, claim);
  return claimed ?? null;
}

/**
 * The open attempt at a phase of a run that a worker has claimed. If the worker does not execute it, it has claimed it by a commit whose
 * outcome it did not learn: the first plan when it began the run, or the apply when it stored the plan.
 */
export async function findOwnAttempt(
  em: Em,
  own: { runId: string; workerId: string; phase: AttemptPhase },
): Promise<string | undefined> {
  const [found] = await selectOwnAttempt(em, own);
  return found?.id;
}

const selectOwnAttempt = prepare(
  (db, parameter: ParameterOf<{ runId: string; workerId: string; phase: AttemptPhase }>) =>
    db
      .selectFrom('run_attempts as a')
      .innerJoin('runs', (join) => join.onRef('runs.id', '=', 'a.runId').onRef('runs.attemptId', '=', 'a.id'))
      .where('runs.id', '=', parameter('runId'))
      .where('a.workerId', '=', parameter('workerId'))
      .where('a.phase', '=', parameter('phase'))
      .where('a.outcome', 'is', null)
      .select('a.id'),
);

/** Whether some worker may still claim an attempt. */
export async function canBeClaimed(em: Em, attemptId: string): Promise<boolean> {
  const attempt = await db(em)
    .selectFrom('run_attempts as a')
    .innerJoin('runs', 'runs.id', 'a.runId')
    .where('a.id', '=', attemptId)
    .where(isClaimable)
    .select('a.id')
    .executeTakeFirst();
  return attempt !== undefined;
}

/** Counts a state that was set aside, for the operators of the installation. */
export async function countRefusedState(em: Em): Promise<void> {
  await db(em)
    .updateTable('installation')
    .set((eb) => ({ statesRefused: eb('statesRefused', '+', 1) }))
    .execute();
}

/**
 * Of these attempts, those that must stop: their run is being canceled, has ended, or has another attempt now. Attempts that no longer
 * exist must stop, too.
 */
export async function findEndedAttempts(em: Em, ids: readonly string[]): Promise<string[]> {
  const rows = await db(em)
    .selectFrom(sql<{ id: string }>`unnest(${ids}::uuid[])`.as<'given'>(sql`given(id)`))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('run_attempts as a')
            .innerJoin('runs as r', (join) => join.onRef('r.id', '=', 'a.runId').onRef('r.attemptId', '=', 'a.id'))
            .whereRef('a.id', '=', 'given.id')
            .where('r.status', '=', 'running')
            .select('a.id'),
        ),
      ),
    )
    .select('given.id')
    .execute();
  return rows.map(({ id }) => id);
}
