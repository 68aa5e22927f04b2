import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { OverRun } from '../details-store.ts';
import { type RunWithFacts, selectRunsWithFacts, toRunWithFacts } from '../store.ts';
import { responsiblePerson } from './rules.ts';

/** A run that waits for approval, and whether somebody asked the reviewer by name to review it. */
export interface PendingRun extends RunWithFacts {
  readonly isAsked: boolean;
}

/** Finds candidates for a reviewer's inbox, oldest first; `findRunRefusal` decides which of them are listed. */
export async function findPending(
  em: Em,
  reviewer: Principal,
  { after, limit, asked }: { after: string | null; limit: number; asked: boolean },
): Promise<PendingRun[]> {
  const rows = await selectRunsWithFacts(db(em))
    .where('runs.status', '=', 'pending_approval')
    .where('runs.finished_at', 'is', null)
    .where((eb) => isInReadableTeam(reviewer, eb.ref('runs.team_id'), 'visible'))
    .where((eb) => eb.not(hasReviewed(eb, reviewer)))
    .where((eb) => eb.or([eb('runs.approval_allow_self', '=', true), eb('runs.requested_by_id', '<>', reviewer.id)]))
    .$if(asked, (query) => query.where((eb) => isAsked(eb, reviewer)))
    .$if(after !== null, (query) => query.where('runs.id', '>', after))
    .select((eb) => isAsked(eb, reviewer).as('isAsked'))
    .orderBy('runs.id')
    .limit(limit)
    .execute();
  return rows.map(({ isAsked: isNamed, ...row }) => ({ ...toRunWithFacts(row), isAsked: isNamed }));
}

function hasReviewed(eb: OverRun, reviewer: Principal) {
  const reviews = eb.selectFrom('run_reviews as own').whereRef('own.run_id', '=', 'runs.id');
  return eb.exists(reviews.where('own.responsible_user_id', '=', responsiblePerson(reviewer)).select('own.id'));
}

/** Whether somebody asked the reviewer by name. */
function isAsked(eb: OverRun, { id }: Principal) {
  return sql<boolean>`${eb.ref('runs.reviewers')} @> ${json([{ id }])}::jsonb`;
}
