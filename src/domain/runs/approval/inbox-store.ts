import { sql } from 'kysely';
import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { OverRun } from '../details-store.ts';
import { type RunWithFacts, selectRunsWithFacts, toRunWithFacts } from '../store.ts';
import { responsiblePerson } from './rules.ts';

/** A run that waits for approval, and whether somebody asked the reviewer by name to review it. */
export interface PendingRun extends RunWithFacts {
  readonly isAsked: boolean;
  /** The latest request that names the reviewer; null if there is none. */
  readonly request: NamingRequest | null;
}

export interface NamingRequest {
  /** The name of who asked. */
  readonly by: string;
  readonly message: string;
  readonly at: string;
}

/** Narrows the runs that wait for the reviewer. */
export interface PendingFilter {
  /** Only runs for which somebody asked the reviewer by name. */
  readonly asked: boolean;
  readonly teamId?: string | undefined;
  readonly organizationId?: string | undefined;
  /** Only these runs. */
  readonly runIds?: readonly string[] | undefined;
}

/** Finds candidates for a reviewer's inbox, oldest first; `findRunRefusal` decides which of them are listed. */
export async function findPending(
  em: Em,
  reviewer: Principal,
  { after, limit, asked, teamId, organizationId, runIds }: PendingFilter & { after: string | null; limit: number },
): Promise<PendingRun[]> {
  const rows = await selectRunsWithFacts(em)
    .where('runs.status', '=', 'pending_approval')
    .where('runs.finishedAt', 'is', null)
    .where((eb) => isInReadableTeam(reviewer, eb.ref('runs.teamId'), 'visible'))
    .where((eb) => eb.not(hasReviewed(eb, reviewer)))
    .where((eb) => eb.or([eb('runs.approvalAllowSelf', '=', true), eb('runs.requestedById', '<>', reviewer.id)]))
    .$if(asked, (query) => query.where((eb) => isAsked(eb, reviewer)))
    .$if(teamId !== undefined, (query) => query.where('runs.teamId', '=', teamId ?? null))
    .$if(organizationId !== undefined, (query) => query.where((eb) => isOfOrganization(eb, organizationId ?? '')))
    .$if(runIds !== undefined, (query) => query.where('runs.id', '=', (eb) => eb.fn.any(eb.val([...(runIds ?? [])]))))
    .$if(after !== null, (query) => query.where('runs.id', '>', after))
    .select((eb) => [isAsked(eb, reviewer).as('isAsked'), selectRequest(eb, reviewer).as('request')])
    .orderBy('runs.id')
    .limit(limit)
    .execute();
  return rows.map(({ isAsked: isNamed, request, ...row }) => ({ ...toRunWithFacts(row), isAsked: isNamed, request }));
}

function isOfOrganization(eb: OverRun, organizationId: string) {
  const teams = eb.selectFrom('teams as owning').whereRef('owning.id', '=', 'runs.teamId');
  return eb.exists(teams.where('owning.organizationId', '=', organizationId).select('owning.id'));
}

/** The latest request for a review that names the reviewer. */
function selectRequest(eb: OverRun, { id }: Principal) {
  const request = eb
    .selectFrom('domain_events as e')
    .where('e.subjectKind', '=', 'run')
    .whereRef('e.subjectId', '=', 'runs.id')
    .where('e.type', '=', 'run.approval_requested')
    .where((of) => sql<boolean>`${of.ref('e.data')} -> 'reviewers' @> ${json([id])}::jsonb`)
    .orderBy('e.sequence', 'desc')
    .limit(1)
    .select((of) => [
      sql<string>`${of.ref('e.data')} ->> 'by'`.as('by'),
      sql<string>`${of.ref('e.data')} ->> 'message'`.as('message'),
      'e.createdAt as at',
    ]);
  return jsonObjectFrom(request);
}

function hasReviewed(eb: OverRun, reviewer: Principal) {
  const reviews = eb.selectFrom('run_reviews as own').whereRef('own.runId', '=', 'runs.id');
  return eb.exists(reviews.where('own.responsibleUserId', '=', responsiblePerson(reviewer)).select('own.id'));
}

/** Whether somebody asked the reviewer by name. */
function isAsked(eb: OverRun, { id }: Principal) {
  return sql<boolean>`${eb.ref('runs.reviewers')} @> ${json([{ id }])}::jsonb`;
}
