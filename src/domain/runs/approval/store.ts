import { type AliasableExpression, type Expression, expressionBuilder, sql } from 'kysely';
import { jsonArrayFrom, jsonBuildObject } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { OverRun } from '../details-store.ts';
import type { ApprovalFacts } from './rules.ts';

/** Whether a review `v` approves the plan with which its run waits. */
export function isApproval(eb: Over<{ runs: 'runs'; v: 'run_reviews' }>) {
  return eb
    .and([eb('v.decision', '=', 'approve'), eb('v.plan_digest', '=', eb.ref('runs.plan_digest'))])
    .$castTo<boolean>();
}

/** The facts on which a review of a run depends. */
export function selectApprovalFacts(eb: OverRun): AliasableExpression<ApprovalFacts> {
  const facts = expressionBuilder<Tables & WithLineage>()
    .selectFrom('lineage')
    .leftJoin('template_versions as version', 'version.id', 'lineage.template_version_id')
    .select(({ fn, ref }) => {
      const requester = { person: ref('lineage.responsible_user_id'), id: ref('lineage.requested_by_id') };
      const publisher = { person: ref('version.responsible_user_id'), id: ref('version.published_by').$notNull() };
      return jsonBuildObject({
        planDigest: eb.ref('runs.plan_digest'),
        required: eb.ref('runs.approval_required'),
        allowSelf: eb.ref('runs.approval_allow_self'),
        expiresAt: eb.ref('runs.approval_expires_at'),
        templateVersion: eb.ref('runs.template_version'),
        requesters: fn.jsonAgg(jsonBuildObject(requester)),
        publishers: fn.jsonAgg(jsonBuildObject(publisher)),
        reviews: selectReviewers(eb),
      }).as('facts');
    });
  return withLineage(eb, facts.$asScalar().$notNull());
}

function selectReviewers(eb: OverRun) {
  const reviews = eb.selectFrom('run_reviews as v').whereRef('v.run_id', '=', 'runs.id');
  return jsonArrayFrom(
    reviews.select((review) => ['v.responsible_user_id as person', isApproval(review).as('isApproval')]),
  );
}

/** A run and those that it was requeued from. */
interface WithLineage {
  lineage: Pick<Tables['runs'], (typeof lineageColumns)[number]>;
}
const lineageColumns = ['requeued_from', 'responsible_user_id', 'requested_by_id', 'template_version_id'] as const;

/** An expression over the `lineage` of a run. */
function withLineage<Value>(eb: OverRun, value: Expression<Value>) {
  const itself = eb.selectFrom('runs as itself').whereRef('itself.id', '=', 'runs.id').select(lineageColumns);
  const former = expressionBuilder<Tables & WithLineage>()
    .selectFrom('lineage')
    .innerJoin('runs as former', 'former.id', 'lineage.requeued_from')
    .select([
      'former.requeued_from',
      'former.responsible_user_id',
      'former.requested_by_id',
      'former.template_version_id',
    ]);
  return sql<Value>`(with recursive lineage as ${itself.unionAll(former)} ${value})`;
}

/** The facts on which a review depends. The caller has locked the run, so no other review comes between. */
export async function readApprovalFacts(em: Em, runId: string): Promise<ApprovalFacts> {
  const { facts } = await db(em)
    .selectFrom('runs')
    .where('runs.id', '=', runId)
    .select((eb) => selectApprovalFacts(eb).as('facts'))
    .executeTakeFirstOrThrow();
  return facts;
}
