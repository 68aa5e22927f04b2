import type { Em } from '#database/database.ts';
import { lockForChange } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import { CandidateCheck } from '../entity.ts';

/** The attempt to which a run belongs, and the part that the run has in it. */
export interface RunOfAttempt {
  readonly attemptId: string;
  readonly part: 'baseline' | 'candidate_check' | 'promotion';
}

/** The attempt to which a run belongs. Undefined for almost every run. */
export async function findAttemptOfRun(em: Em, runId: string): Promise<RunOfAttempt | undefined> {
  const attempts = db(em).selectFrom('selective_undo_attempts as a');
  const baseline = attempts
    .where('a.baselineRunId', '=', runId)
    .select((eb) => ['a.id as attemptId', eb.val<RunOfAttempt['part']>('baseline').as('part')]);
  const promotion = attempts
    .where('a.promotedRunId', '=', runId)
    .select((eb) => ['a.id as attemptId', eb.val<RunOfAttempt['part']>('promotion').as('part')]);
  const check = db(em)
    .selectFrom('selective_undo_candidate_checks as c')
    .where('c.runId', '=', runId)
    .select((eb) => ['c.attemptId', eb.val<RunOfAttempt['part']>('candidate_check').as('part')]);
  return baseline.unionAll(promotion).unionAll(check).executeTakeFirst();
}

/** The scan of a check that has not been concluded, and whether the scan has ended. Undefined once the check is concluded. */
export async function findBaseline(
  em: Em,
  attemptId: string,
): Promise<{ runId: string; hasEnded: boolean } | undefined> {
  return db(em)
    .selectFrom('selective_undo_attempts as a')
    .innerJoin('runs as r', 'r.id', 'a.baselineRunId')
    .where('a.id', '=', attemptId)
    .where('a.state', '=', 'checking')
    .select((eb) => ['r.id as runId', eb('r.finishedAt', 'is not', null).$castTo<boolean>().as('hasEnded')])
    .executeTakeFirst();
}

export function lockCandidateCheck(em: Em, runId: string): Promise<CandidateCheck | null> {
  return lockForChange(em, CandidateCheck, { runId });
}

/** How many checks of undoing runs of an instance have not ended. */
export async function countChecking(em: Em, instanceId: string): Promise<number> {
  const { count } = await db(em)
    .selectFrom('selective_undo_attempts')
    .where('instanceId', '=', instanceId)
    .where('state', '=', 'checking')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The run of the last candidate check that passed. @throws Error if there is none: a defect */
export async function findCheckedPlan(em: Em, attemptId: string): Promise<string> {
  const { runId } = await db(em)
    .selectFrom('selective_undo_candidate_checks')
    .where('attemptId', '=', attemptId)
    .where('state', '=', 'passed')
    .orderBy('id', 'desc')
    .select('runId')
    .limit(1)
    .executeTakeFirstOrThrow();
  return runId;
}

/** How a run ended, and its plan; null if it has none. Sections are also null if an earlier release stored the plan without them. */
export async function readEnding(em: Em, runId: string) {
  return db(em)
    .selectFrom('runs')
    .leftJoin('run_plans as plan', 'plan.runId', 'runs.id')
    .where('runs.id', '=', runId)
    .select([
      'runs.status',
      'runs.statusReason as reason',
      'runs.statusDetail as detail',
      'plan.changes',
      'plan.sections',
      'runs.undoes',
    ])
    .executeTakeFirstOrThrow();
}
