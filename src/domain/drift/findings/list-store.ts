import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam, isTeamOf } from '#domain/shared/access/readable-teams-store.ts';
import { type Page, type PageRequest, pageOfLarge } from '#domain/shared/paging/paging.ts';
import type { FindingStatus } from './model.ts';

export interface FindingFilter {
  readonly organizationId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly monitorId?: string | undefined;
  /** The scan that saw them last. */
  readonly runId?: string | undefined;
  readonly status?: FindingStatus | undefined;
}

/** A finding as its readers see it. Times are strings. */
export type FindingDetails = NonNullable<Awaited<ReturnType<typeof readFinding>>>;

/** A deleted monitor keeps its findings as history, which no list shows. */
function selectFindings(em: Em) {
  return db(em)
    .selectFrom('drift_findings as f')
    .innerJoin('drift_monitors as m', 'm.id', 'f.monitorId')
    .where('m.deletedAt', 'is', null)
    .select([
      'f.id',
      'f.monitorId',
      'f.teamId',
      'f.instanceId',
      'f.address',
      'f.path',
      'f.status',
      'f.reason',
      'f.firstSeenAt',
      'f.lastSeenAt',
      'f.seenCount',
      'f.lastRunId',
      'f.suppressedUntil',
      'f.suppressionReason',
      'f.suppressedByName',
      'f.reopenReason',
      'f.revision',
    ])
    .select((eb) => [selectLatestEvidence(eb).$notNull().as('evidence'), selectRunUnderWay(eb).as('remediationRunId')]);
}

function selectLatestEvidence(eb: Over<{ f: 'drift_findings' }>) {
  return jsonObjectFrom(
    eb.selectFrom('drift_evidence as e').whereRef('e.id', '=', 'f.evidenceId').select(evidenceColumns),
  );
}

/** The unfinished run that remedies the finding. */
function selectRunUnderWay(eb: Over<{ f: 'drift_findings' }>) {
  return eb
    .selectFrom('runs as r')
    .whereRef('r.driftFindingId', '=', 'f.id')
    .where('r.finishedAt', 'is', null)
    .orderBy('r.id', 'desc')
    .limit(1)
    .select('r.id');
}

const evidenceColumns = [
  'e.id',
  'e.runId',
  'e.before',
  'e.after',
  'e.sensitive',
  'e.action',
  'e.expectation',
  'e.stateSerial',
  'e.templateVersion',
  'e.tool',
  'e.slotHeldBy',
  'e.observedAt',
] as const;

/** One finding; the caller has decided that it may be read. */
export function readFinding(em: Em, id: string) {
  return selectFindings(em).where('f.id', '=', id).executeTakeFirst();
}

/** A page of the findings that a principal may read, newest first. */
export function listFindings(
  em: Em,
  principal: Principal,
  filter: FindingFilter,
  request: PageRequest,
): Promise<Page<FindingDetails>> {
  const { organizationId, teamId, environmentId, instanceId, monitorId, runId, status } = filter;
  let query = selectFindings(em).where((eb) => isInReadableTeam(principal, eb.ref('f.teamId'), 'hidden'));
  if (organizationId !== undefined) query = query.where((eb) => isTeamOf(organizationId, eb.ref('f.teamId')));
  if (teamId !== undefined) query = query.where('f.teamId', '=', teamId);
  if (environmentId !== undefined) query = query.where('m.environmentId', '=', environmentId);
  if (instanceId !== undefined) query = query.where('f.instanceId', '=', instanceId);
  if (monitorId !== undefined) query = query.where('f.monitorId', '=', monitorId);
  if (runId !== undefined) query = query.where('f.lastRunId', '=', runId);
  if (status !== undefined) query = query.where('f.status', '=', status);
  return pageOfLarge(em, query, 'f.id', request);
}

/** What a scan saw of a finding. Times are strings. */
export type EvidenceDetails = Awaited<ReturnType<typeof listEvidence>>['items'][number];

/** The evidence of a finding, newest first. */
export function listEvidence(em: Em, findingId: string, request: PageRequest) {
  const query = db(em).selectFrom('drift_evidence as e').where('e.findingId', '=', findingId).select(evidenceColumns);
  return pageOfLarge(em, query, 'e.id', request);
}
