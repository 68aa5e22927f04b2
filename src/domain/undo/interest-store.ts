import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Tables } from '#domain/entities.ts';

/** Whether a run belongs to an attempt at undoing another one: the attempt is written before its runs end. */
export function isRunOfAttempt(runId: Expression<string>): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const attempts = eb.selectFrom('selective_undo_attempts as a').select('a.id');
  return eb.or([
    eb.exists(attempts.where('a.baselineRunId', '=', runId)),
    eb.exists(attempts.where('a.promotedRunId', '=', runId)),
    eb.exists(eb.selectFrom('selective_undo_candidate_checks as c').where('c.runId', '=', runId).select('c.runId')),
  ]);
}
