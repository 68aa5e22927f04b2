import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { haveInputsChanged } from '#domain/instances/conditions-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam, isTeamOf } from '#domain/shared/access/readable-teams-store.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { FindingStatus } from '../findings/model.ts';

export interface MonitorFilter {
  readonly organizationId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly templateId?: string | undefined;
}

/** A monitor as its readers see it. Times are strings. */
export type MonitorDetails = NonNullable<Awaited<ReturnType<typeof readMonitor>>>;

function selectMonitors(em: Em) {
  return db(em)
    .selectFrom('drift_monitors as m')
    .where('m.deletedAt', 'is', null)
    .select([
      'm.id',
      'm.scope',
      'm.teamId',
      'm.instanceId',
      'm.environmentId',
      'm.templateId',
      'm.inheritedFrom',
      'm.schedule',
      'm.enabled',
      'm.lastScanAt',
      'm.lastSuccessAt',
      'm.lastFailure',
      'm.createdAt',
      'm.revision',
    ])
    .select((eb) => [
      countFindings(eb, 'open').as('openFindings'),
      countFindings(eb, 'suppressed').as('suppressedFindings'),
      selectRunningScan(eb).as('scanRunId'),
      hasResources(eb).as('hasResources'),
      selectLaterChange(eb).as('instanceChangedAt'),
      eb.cast<boolean>(haveInputsChanged(eb.ref('m.instanceId')), 'boolean').as('haveInputsChanged'),
    ]);
}

/** The findings of the monitor's own scans. */
function countFindings(eb: Over<{ m: 'drift_monitors' }>, status: FindingStatus) {
  return eb
    .selectFrom('drift_findings as f')
    .whereRef('f.monitorId', '=', 'm.id')
    .where('f.status', '=', status)
    .select(sql<number>`count(*)::int`.as('number'))
    .$asScalar()
    .$notNull();
}

function selectRunningScan(eb: Over<{ m: 'drift_monitors' }>) {
  return eb
    .selectFrom('drift_scans as s')
    .whereRef('s.monitorId', '=', 'm.id')
    .where('s.recordedAt', 'is', null)
    .select('s.runId')
    .$asScalar();
}

/** When a run last changed the instance, or began to change it, after the last scan with a result. */
function selectLaterChange(eb: Over<{ m: 'drift_monitors' }>) {
  return eb
    .selectFrom('instances as i')
    .innerJoin('runs as d', 'd.id', 'i.deployedRunId')
    .whereRef('i.id', '=', 'm.instanceId')
    .where((on) =>
      on.or([on('d.finishedAt', '>', on.ref('m.lastSuccessAt')), on('i.unrecordedAt', '>', on.ref('m.lastSuccessAt'))]),
    )
    .select(({ ref }) => sql<string>`greatest(${ref('d.finishedAt')}, ${ref('i.unrecordedAt')})`.as('at'))
    .$asScalar();
}

function hasResources(eb: Over<{ m: 'drift_monitors' }>) {
  const holding = eb
    .selectFrom('instances as i')
    .whereRef('i.id', '=', 'm.instanceId')
    .where('i.resourceCount', '>', 0);
  return eb.exists(holding.select('i.id')).$castTo<boolean>();
}

/** Whether a monitor watches a template or an instance of it. */
function isOfTemplate(eb: Over<{ m: 'drift_monitors' }>, templateId: string) {
  const instances = eb.selectFrom('instances as i').where('i.templateId', '=', templateId).select('i.id');
  return eb.or([eb('m.templateId', '=', templateId), eb('m.instanceId', 'in', instances)]);
}

/** One monitor; the caller has decided that it may be read. */
export function readMonitor(em: Em, id: string) {
  return selectMonitors(em).where('m.id', '=', id).executeTakeFirst();
}

/** A page of the monitors that a principal may read, newest first. */
export function listMonitors(
  em: Em,
  principal: Principal,
  filter: MonitorFilter,
  request: PageRequest,
): Promise<Page<MonitorDetails>> {
  return pageOf(
    selectMonitors(em).where((eb) => isListed(eb, principal, filter)),
    'm.id',
    request,
  );
}

/** The number of monitors that scan, and how many of them have never had a scan with a result. */
export function countMonitors(em: Em, principal: Principal, filter: MonitorFilter) {
  return db(em)
    .selectFrom('drift_monitors as m')
    .where('m.deletedAt', 'is', null)
    .where('m.scope', '=', 'instance')
    .where((eb) => isListed(eb, principal, filter))
    .select([
      sql<number>`count(*)::int`.as('all'),
      sql<number>`(count(*) filter (where m.last_success_at is null))::int`.as('unscanned'),
    ])
    .executeTakeFirstOrThrow();
}

function isListed(
  eb: Over<{ m: 'drift_monitors' }>,
  principal: Principal,
  { organizationId, teamId, environmentId, instanceId, templateId }: MonitorFilter,
) {
  return eb.and([
    isInReadableTeam(principal, eb.ref('m.teamId'), 'hidden'),
    ...(organizationId === undefined ? [] : [isTeamOf(organizationId, eb.ref('m.teamId'))]),
    ...(teamId === undefined ? [] : [eb('m.teamId', '=', teamId)]),
    ...(environmentId === undefined ? [] : [eb('m.environmentId', '=', environmentId)]),
    ...(instanceId === undefined ? [] : [eb('m.instanceId', '=', instanceId)]),
    ...(templateId === undefined ? [] : [isOfTemplate(eb, templateId)]),
  ]);
}
