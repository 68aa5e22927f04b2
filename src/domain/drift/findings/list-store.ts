import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam, isTeamOf } from '#domain/shared/access/readable-teams-store.ts';
import { type Page, type PageRequest, pageOfLarge } from '#domain/shared/paging.ts';
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
    .innerJoin('drift_monitors as m', 'm.id', 'f.monitor_id')
    .where('m.deleted_at', 'is', null)
    .select([
      'f.id',
      'f.monitor_id as monitorId',
      'f.team_id as teamId',
      'f.instance_id as instanceId',
      'f.address',
      'f.path',
      'f.status',
      'f.reason',
      'f.first_seen_at as firstSeenAt',
      'f.last_seen_at as lastSeenAt',
      'f.seen_count as seenCount',
      'f.last_run_id as lastRunId',
      'f.suppressed_until as suppressedUntil',
      'f.suppression_reason as suppressionReason',
      'f.suppressed_by_name as suppressedByName',
      'f.reopen_reason as reopenReason',
      'f.revision',
    ])
    .select((eb) => [selectLatestEvidence(eb).$notNull().as('evidence'), selectRunUnderWay(eb).as('remediationRunId')]);
}

function selectLatestEvidence(eb: Over<{ f: 'drift_findings' }>) {
  return jsonObjectFrom(
    eb.selectFrom('drift_evidence as e').whereRef('e.id', '=', 'f.evidence_id').select(evidenceColumns),
  );
}

/** The run that is under way to remedy the finding. */
function selectRunUnderWay(eb: Over<{ f: 'drift_findings' }>) {
  return eb
    .selectFrom('runs as r')
    .whereRef('r.drift_finding_id', '=', 'f.id')
    .where('r.finished_at', 'is', null)
    .orderBy('r.id', 'desc')
    .limit(1)
    .select('r.id');
}

const evidenceColumns = [
  'e.id',
  'e.run_id as runId',
  'e.before',
  'e.after',
  'e.sensitive',
  'e.action',
  'e.state_serial as stateSerial',
  'e.template_version as templateVersion',
  'e.tool',
  'e.slot_held_by as slotHeldBy',
  'e.observed_at as observedAt',
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
  let query = selectFindings(em).where((eb) => isInReadableTeam(principal, eb.ref('f.team_id'), 'hidden'));
  if (organizationId !== undefined) query = query.where((eb) => isTeamOf(organizationId, eb.ref('f.team_id')));
  if (teamId !== undefined) query = query.where('f.team_id', '=', teamId);
  if (environmentId !== undefined) query = query.where('m.environment_id', '=', environmentId);
  if (instanceId !== undefined) query = query.where('f.instance_id', '=', instanceId);
  if (monitorId !== undefined) query = query.where('f.monitor_id', '=', monitorId);
  if (runId !== undefined) query = query.where('f.last_run_id', '=', runId);
  if (status !== undefined) query = query.where('f.status', '=', status);
  return pageOfLarge(em, query, 'f.id', request);
}

/** What a scan saw of a finding. Times are strings. */
export type EvidenceDetails = Awaited<ReturnType<typeof listEvidence>>['items'][number];

/** The evidence of a finding, newest first. */
export function listEvidence(em: Em, findingId: string, request: PageRequest) {
  const query = db(em).selectFrom('drift_evidence as e').where('e.finding_id', '=', findingId).select(evidenceColumns);
  return pageOfLarge(em, query, 'e.id', request);
}
