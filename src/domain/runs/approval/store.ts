import { type AliasableExpression, type Expression, expressionBuilder, sql } from 'kysely';
import { jsonArrayFrom, jsonBuildObject, jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { noCredential, type PrincipalSnapshot, toPrincipal } from '#domain/shared/access/principal.ts';
import { selectPrincipal } from '#domain/shared/access/store.ts';
import { type ApprovalPolicy, strictestPolicy } from '#domain/shared/vocabulary/approval.ts';
import type { OverRun } from '../details-store.ts';
import type { RunAuthor } from '../model.ts';
import { selectAdmittedPolicy, selectEnvironmentPolicy } from './policy-store.ts';
import type { ApprovalFacts, RecordedReview } from './rules.ts';

/** Whether a review `v` approves the plan with which its run waits. */
export function isApproval(eb: Over<{ runs: 'runs'; v: 'run_reviews' }>) {
  return eb
    .and([eb('v.decision', '=', 'approve'), eb('v.planDigest', '=', eb.ref('runs.planDigest'))])
    .$castTo<boolean>();
}

/** `ApprovalFacts` as they are read, for `toApprovalFacts`. */
export interface ApprovalFactsRow extends Omit<ApprovalFacts, 'required' | 'allowSelf' | 'reviews'> {
  /** The policy with which the run was admitted. */
  readonly admitted: ApprovalPolicy;
  /** The policy of its environment now. */
  readonly present: ApprovalPolicy | null;
  readonly reviews: readonly (Omit<RecordedReview, 'reviewer'> & { readonly reviewer: PrincipalSnapshot | null })[];
}

/** The facts on which a review of a run depends. A run keeps the stricter of the policies at its admission and now. */
export function toApprovalFacts({ admitted, present, reviews, ...facts }: ApprovalFactsRow): ApprovalFacts {
  const { required, allow_self: allowSelf } = strictestPolicy(admitted, present);
  const recorded = reviews.map(({ reviewer, ...review }) => ({
    ...review,
    reviewer: reviewer && toPrincipal(reviewer, noCredential(reviewer.id)),
  }));
  return { ...facts, required, allowSelf, reviews: recorded };
}

/** The facts on which a review of a run depends, for `toApprovalFacts`. */
export function selectApprovalFacts(eb: OverRun): AliasableExpression<ApprovalFactsRow> {
  const facts = expressionBuilder<Tables & WithLineage>()
    .selectFrom('lineage')
    .leftJoin('template_versions as version', 'version.id', 'lineage.templateVersionId')
    .select(({ fn, ref }) => {
      const requester = { person: ref('lineage.responsibleUserId'), id: ref('lineage.requestedById') };
      const publisher = { person: ref('version.responsibleUserId'), id: ref('version.publishedBy').$notNull() };
      return jsonBuildObject({
        planDigest: eb.ref('runs.planDigest'),
        admitted: selectAdmittedPolicy(),
        present: selectEnvironmentPolicy(eb),
        expiresAt: eb.ref('runs.approvalExpiresAt'),
        templateVersion: eb.ref('runs.templateVersion'),
        reviewNeeds: eb.ref('runs.reviewNeeds'),
        owner: jsonBuildObject({ teamId: eb.ref('runs.teamId'), organizationId: selectOrganization(eb) }),
        requesters: fn.jsonAgg(jsonBuildObject(requester)),
        publishers: fn.jsonAgg(jsonBuildObject(publisher)),
        authors: selectAuthors(),
        reviews: selectReviewers(eb),
      }).as('facts');
    });
  return withLineage(eb, facts.$asScalar().$notNull());
}

/** The authors of all runs of the lineage. */
function selectAuthors() {
  return sql<
    RunAuthor[]
  >`(select coalesce(jsonb_agg(author), '[]') from lineage, jsonb_array_elements(lineage.authors) as author)`;
}

function selectOrganization(eb: OverRun) {
  return eb
    .selectFrom('teams as owning')
    .whereRef('owning.id', '=', 'runs.teamId')
    .select('owning.organizationId')
    .$asScalar();
}

/** The reviews of a run, oldest first, with their reviewers as they are now. */
function selectReviewers(eb: OverRun) {
  const reviews = eb.selectFrom('run_reviews as v').whereRef('v.runId', '=', 'runs.id').orderBy('v.id');
  return jsonArrayFrom(
    reviews.select((review) => [
      'v.id',
      'v.responsibleUserId as person',
      'v.reviewerId',
      'v.reviewerName',
      isApproval(review).as('isApproval'),
      review
        .exists(present(review, 'v.responsibleUserId').where('p.enabled', '=', true).select('p.id'))
        .$castTo<boolean>()
        .as('isPersonEnabled'),
      jsonObjectFrom(present(review, 'v.reviewerId').select(selectPrincipal)).as('reviewer'),
    ]),
  );
}

/** The principal that a column of a review names, unless it was deleted. */
function present(eb: Over<{ v: 'run_reviews' }>, column: 'v.responsibleUserId' | 'v.reviewerId') {
  return eb.selectFrom('principals as p').whereRef('p.id', '=', column).where('p.deletedAt', 'is', null);
}

/** A run and those that it was requeued from. */
interface WithLineage {
  lineage: Pick<Tables['runs'], (typeof lineageColumns)[number]>;
}
const lineageColumns = ['requeuedFrom', 'responsibleUserId', 'requestedById', 'templateVersionId', 'authors'] as const;

/** An expression over the `lineage` of a run. */
function withLineage<Value>(eb: OverRun, value: Expression<Value>) {
  const itself = eb.selectFrom('runs as itself').whereRef('itself.id', '=', 'runs.id').select(lineageColumns);
  const former = expressionBuilder<Tables & WithLineage>()
    .selectFrom('lineage')
    .innerJoin('runs as former', 'former.id', 'lineage.requeuedFrom')
    .select([
      'former.requeuedFrom',
      'former.responsibleUserId',
      'former.requestedById',
      'former.templateVersionId',
      'former.authors',
    ]);
  const columns = sql.join(lineageColumns.map((column) => sql.ref(column)));
  return sql<Value>`(with recursive lineage(${columns}) as ${itself.unionAll(former)} ${value})`;
}

/** The facts on which a review depends. The caller has locked the run, so no other review is recorded in between. */
export async function readApprovalFacts(em: Em, runId: string): Promise<ApprovalFacts> {
  const { facts } = await db(em)
    .selectFrom('runs')
    .where('runs.id', '=', runId)
    .select((eb) => selectApprovalFacts(eb).as('facts'))
    .executeTakeFirstOrThrow();
  return toApprovalFacts(facts);
}
