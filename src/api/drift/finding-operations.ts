import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { type FindingTarget, findFinding, findFindings } from '#domain/drift/findings/finding-target.ts';
import { listEvidence, listFindings, readFinding } from '#domain/drift/findings/list-store.ts';
import { findingStatuses } from '#domain/drift/findings/model.ts';
import {
  refuseUnfitTime,
  reopenFinding,
  type SuppressionRequest,
  suppressFinding,
} from '#domain/drift/findings/suppression.ts';
import { findRemediationTarget, readEvidenceFacts } from '#domain/drift/remediation/remediation.ts';
import { targetIsGone } from '#domain/runs/admission/rules.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import type { CommandChange } from '#domain/shared/audit.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { findingAccess } from './access.ts';
import { findingActions } from './actions.ts';
import { namedFindings, ReopenFinding, SuppressFinding, SuppressFindings } from './bodies.ts';
import { ownerLevels, ownerParameters, toOwnerFilter } from './owner-filter.ts';
import { EvidenceView, FindingView, ListedFindingView, toEvidence, toFinding } from './views.ts';

export const FindingParams = z.strictObject({ id: Id });

export const list = readList({
  id: 'drift_findings.list',
  route: 'GET /api/v1/drift-findings',
  summary: 'List the drift findings that you may read, newest first, each with its latest evidence',
  query: z.strictObject({
    ...pageQuery,
    ...ownerParameters,
    monitor_id: Id.optional(),
    run_id: Id.optional().describe('The findings that this scan saw last.'),
    status: z.enum(findingStatuses).optional(),
  }),
  responses: { 200: pageOf('drift_findings', ListedFindingView) },
  access: findingAccess.list,
  owners: ownerLevels,
  handle: async ({ em, principal, query }) => {
    const { monitor_id: monitorId, run_id: runId, status } = query;
    const filter = { ...toOwnerFilter(query), monitorId, runId, status };
    const page = await listFindings(em, principal, filter, query);
    return { drift_findings: page.items.map(toFinding), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'drift_findings.get',
  route: 'GET /api/v1/drift-findings/:id',
  summary: 'Read a drift finding with its latest evidence',
  params: FindingParams,
  responses: { 200: FindingView },
  access: findingAccess.get,
  target: ({ em, params }) => findFinding(em, params.id),
  targetName: 'drift finding',
  handle: ({ em, operations, principal, target }) => showFinding({ em, operations, principal }, target),
});

export const listFindingEvidence = read({
  id: 'drift_findings.list_evidence',
  route: 'GET /api/v1/drift-findings/:id/evidence',
  summary: 'List the evidence of a drift finding, newest first',
  description:
    'A scan adds evidence if the value, the state or the deployment is another one than in the latest evidence, or if the deviation is back.',
  params: FindingParams,
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('evidence', EvidenceView) },
  access: findingAccess.nestedRead,
  target: ({ em, params }) => findFinding(em, params.id),
  targetName: 'drift finding',
  handle: async ({ em, params, query }) => {
    const page = await listEvidence(em, params.id, query);
    return { evidence: page.items.map(toEvidence), next_cursor: page.nextCursor };
  },
});

export const suppress = command({
  id: 'drift_findings.suppress',
  route: 'POST /api/v1/drift-findings/:id/suppress',
  summary: 'Accept the value that a finding shows, until a time; another value opens it again',
  params: FindingParams,
  body: SuppressFinding,
  responses: { 200: FindingView },
  at: get,
  access: findingAccess.suppress,
  target: ({ em, params, lock }) => findFinding(em, params.id, lock),
  targetName: 'drift finding',
  idempotency: 'none',
  audit: 'drift_finding.suppressed',
  handle: async ({ tx, target, body, principal }) => {
    refuseUnfitTime(body.until);
    const evidenceIds = body.evidence_id === undefined ? [] : [body.evidence_id];
    return suppressSeen(tx, target, { ...body, evidenceIds }, principal);
  },
});

export const suppressMany = command({
  id: 'drift_findings.suppress_many',
  route: 'POST /api/v1/drift-findings/suppress',
  summary: 'Accept the values that several findings show: all of them, or none if one cannot be suppressed',
  body: SuppressFindings,
  responses: {
    200: z
      .object({ drift_findings: z.array(z.object({ id: Id, revision: z.int() })) })
      .meta({ id: 'SuppressedDriftFindings' }),
  },
  access: findingAccess.suppressMany,
  target: ({ em, body, lock }) => findFindings(em, idsOf(body), lock),
  targetName: 'drift finding',
  idempotency: 'none',
  audit: 'drift_finding.suppressed',
  handle: async ({ tx, target: { targets }, body, principal }) => {
    refuseUnfitTime(body.until);
    const [first, ...others] = targets.map((target) => {
      const seen = namedFindings(body).filter(({ id }) => id === target.finding.id);
      const evidenceIds = seen.flatMap(({ evidence_id: evidence }) => evidence ?? []);
      return suppressSeen(tx, target, { ...body, evidenceIds }, principal);
    });
    if (!first) throw new NotFound('drift finding');
    return { ...first, others, answer: { drift_findings: targets.map(changeOf) } };
  },
});

export const reopen = command({
  id: 'drift_findings.reopen',
  route: 'POST /api/v1/drift-findings/:id/reopen',
  summary: 'End the suppression of a finding now',
  params: FindingParams,
  body: ReopenFinding,
  responses: { 200: FindingView },
  at: get,
  access: findingAccess.reopen,
  target: ({ em, params, lock }) => findFinding(em, params.id, lock),
  targetName: 'drift finding',
  idempotency: 'none',
  audit: 'drift_finding.reopened',
  handle: async ({ tx, target, body }) => {
    const before = describe(target);
    reopenFinding(tx, target, { reason: body.reason, expectedRevision: body.expected_revision });
    return { ...changeOf(target), before, after: describe(target) };
  },
});

/** Suppresses a finding, and returns what the audit records about it. */
function suppressSeen(
  tx: Transaction,
  target: FindingTarget,
  request: SuppressionRequest,
  by: Principal,
): CommandChange & ReturnType<typeof changeOf> {
  const { organizationId, teamId } = target;
  const before = describe(target);
  suppressFinding(tx, target, request, by);
  return { ...changeOf(target), owners: { organizationId, teamId }, before, after: describe(target) };
}

const idsOf = (body: z.output<typeof SuppressFindings>) => namedFindings(body).map(({ id }) => id);

function describe({ finding: { status, suppressedUntil, suppressionReason, reopenReason } }: FindingTarget) {
  return { status, suppressedUntil, suppressionReason, reopenReason };
}

function changeOf({ finding: { id, revision } }: FindingTarget) {
  return { id, revision };
}

/** Shows one finding, and what the caller may do with it. */
async function showFinding(
  { em, ...context }: ActionContext & { readonly em: Em },
  { finding, organizationId, teamId, archived }: FindingTarget,
): Promise<z.output<typeof FindingView>> {
  const details = await readFinding(em, finding.id);
  if (!details) throw new NotFound('drift finding');
  const evidenceFacts = await readEvidenceFacts(em, finding, details.evidence.id);
  const target = await findRemediationTarget(em, finding.id, false);
  const admissionRefusal = target?.admission ? findArchivedRefusal(target.admission) : targetIsGone;
  const owned = { ...details, organizationId, teamId, archived, evidenceFacts, admissionRefusal };
  const { directions } = evidenceFacts;
  return {
    ...toFinding(details),
    remediation_directions: [...directions],
    actions: findingActions.describe(context, owned),
  };
}
