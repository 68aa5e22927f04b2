import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** An attempt and the worker that claims to execute it. */
export interface ClaimedAttempt {
  readonly attemptId: string;
  readonly workerId: string;
}

/**
 * The facts about an attempt that a token contains, and the database's time. Undefined unless the attempt is the current one of a running
 * run, has not ended, and belongs to the worker. It locks the row of the run for share until the commit, so that the run cannot end before
 * it. Without an environment, the owners are null.
 */
export function readAttemptFacts(em: Em, { attemptId, workerId }: ClaimedAttempt) {
  return db(em)
    .selectFrom('run_attempts as a')
    .innerJoin('runs as r', 'r.id', 'a.runId')
    .innerJoin('templates as tm', 'tm.id', 'r.templateId')
    .leftJoin('environments as e', 'e.id', 'r.environmentId')
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .leftJoin('teams as t', 't.id', 'p.teamId')
    .leftJoin('organizations as o', 'o.id', 't.organizationId')
    .where('a.id', '=', attemptId)
    .where('a.workerId', '=', workerId)
    .where('a.outcome', 'is', null)
    .where('r.status', '=', 'running')
    .whereRef('r.attemptId', '=', 'a.id')
    .select(['a.phase', 'r.id as runId', 'r.operation', 'r.timeouts', 'r.templateVersion as version'])
    .select(['r.instanceId', 'r.instance', 'tm.id as templateId', 'tm.slug as template'])
    .select(['e.id as environmentId', 'e.slug as environment', 'e.kind as environmentKind'])
    .select(['p.id as projectId', 'p.slug as project', 't.id as teamId', 't.slug as team'])
    .select(['o.id as organizationId', 'o.slug as organization'])
    .select(sql<string>`clock_timestamp()`.as('now'))
    .forShare('r')
    .executeTakeFirst();
}
