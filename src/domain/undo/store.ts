import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type Page, type PageRequest, pageOfLarge } from '#domain/shared/paging/paging.ts';

/** An attempt as the API shows it. Times are strings. */
export type AttemptDetails = NonNullable<Awaited<ReturnType<typeof readAttempt>>>;
export type CheckDetails = Awaited<ReturnType<typeof listCandidateChecks>>['items'][number];

function selectAttempts(em: Em) {
  return db(em)
    .selectFrom('selective_undo_attempts as a')
    .select([
      'a.id',
      'a.runId',
      'a.instanceId',
      'a.state',
      'a.problem',
      'a.verdicts',
      'a.changes',
      'a.candidate',
      'a.collateral',
      'a.stateSerial',
      'a.deployedRunId',
      'a.baselineRunId',
      'a.promotedRunId',
      'a.requestedById',
      'a.requestedByType',
      'a.requestedByName',
      'a.createdAt',
      'a.checkedAt',
      'a.revision',
    ]);
}

export function readAttempt(em: Em, id: string) {
  return selectAttempts(em).where('a.id', '=', id).executeTakeFirst();
}

/** The attempts at undoing a run, newest first. */
export function listAttempts(em: Em, runId: string, page: PageRequest): Promise<Page<AttemptDetails>> {
  return pageOfLarge(em, selectAttempts(em).where('a.runId', '=', runId), 'a.id', page);
}

/** The attempts at undoing a run that could take another step, with the state of the instance that they have checked. */
export function listCheckedAttempts(em: Em, runId: string) {
  return selectAttempts(em).where('a.runId', '=', runId).where('a.state', 'in', ['ready', 'promotable']).execute();
}

/** The candidate checks of an attempt, newest first. */
export function listCandidateChecks(em: Em, attemptId: string, page: PageRequest) {
  const checks = db(em)
    .selectFrom('selective_undo_candidate_checks as c')
    .where('c.attemptId', '=', attemptId)
    .select([
      'c.id',
      'c.runId',
      'c.state',
      'c.problem',
      'c.collateral',
      'c.requestedById',
      'c.requestedByType',
      'c.requestedByName',
      'c.createdAt',
      'c.finishedAt',
    ]);
  return pageOfLarge(em, checks, 'c.id', page);
}
