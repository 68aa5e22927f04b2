import { type InferResult, type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { listEventsOf } from '#domain/shared/events/subject-events-store.ts';
import { type Page, type PageRequest, pageByNumber, pageOf } from '#domain/shared/paging.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import type { AssemblyOperation, NodeStatus } from '../model.ts';
import { selectOutputSources } from './output-sources.ts';

function selectRuns(queries: Kysely<Tables>) {
  return queries
    .selectFrom('assembly_runs as r')
    .select([
      'r.id',
      'r.idempotency_key as idempotencyKey',
      'r.assembly_id as assemblyId',
      'r.version',
      'r.team_id as teamId',
      'r.project_id as projectId',
      'r.environment_id as environmentId',
      'r.operation',
      'r.status',
      'r.status_reason as statusReason',
      'r.status_detail as statusDetail',
      'r.only',
      'r.concurrency',
      'r.variables',
      'r.outputs',
      selectOutputSources().as('outputSources'),
      'r.message',
      'r.requested_by_id as requestedById',
      'r.requested_by_type as requestedByType',
      'r.requested_by_name as requestedByName',
      'r.responsible_user_id as responsibleUserId',
      'r.cancel_reason as cancelReason',
      'r.created_at as createdAt',
      'r.started_at as startedAt',
      'r.finished_at as finishedAt',
      'r.revision',
    ])
    .select((eb) =>
      eb
        .selectFrom('assembly_nodes as n')
        .whereRef('n.assembly_run_id', '=', 'r.id')
        .select(
          sql<Record<string, NodeStatus>>`coalesce(json_object_agg(n.key, n.status order by n.position), '{}')`.as(
            'nodes',
          ),
        )
        .$asScalar()
        .$notNull()
        .as('nodes'),
    )
    .select((eb) => selectPendingWait(eb).as('waitingOn'));
}

/** What the nodes wait for whose plans wait: for approval if one of them needs it; null if there are none. */
function selectPendingWait(eb: Over<{ r: 'assembly_runs' }>) {
  return eb
    .selectFrom('assembly_nodes as n')
    .innerJoin('runs as run', 'run.id', 'n.run_id')
    .whereRef('n.assembly_run_id', '=', 'r.id')
    .where('n.status', '=', 'pending_approval')
    .select((of) => sql<WaitingOn | null>`${of.ref('run.waiting_on')}`.as('waitingOn'))
    .orderBy((of) => sql`${of.ref('run.waiting_on')} ->> 'code' is distinct from 'approval'`)
    .orderBy('n.position')
    .limit(1)
    .$asScalar();
}

/** An assembly run as the API shows it. Times are strings. */
export type AssemblyRunDetails = InferResult<ReturnType<typeof selectRuns>>[number];

export function readAssemblyRun(em: Em, id: string): Promise<AssemblyRunDetails | undefined> {
  return selectRuns(db(em)).where('r.id', '=', id).executeTakeFirst();
}

export interface AssemblyRunFilter {
  readonly assemblyId: string;
  readonly environmentId?: string | undefined;
  readonly status?: readonly RunStatus[] | undefined;
  readonly operation?: AssemblyOperation | undefined;
}

/** A page of the runs of an assembly, newest first. */
export function listAssemblyRuns(
  em: Em,
  { assemblyId, environmentId, status, operation }: AssemblyRunFilter,
  page: PageRequest,
): Promise<Page<AssemblyRunDetails>> {
  let listed = selectRuns(db(em)).where('r.assembly_id', '=', assemblyId);
  if (environmentId !== undefined) listed = listed.where('r.environment_id', '=', environmentId);
  if (status !== undefined) listed = listed.where('r.status', 'in', status);
  if (operation !== undefined) listed = listed.where('r.operation', '=', operation);
  return pageOf(listed, 'r.id', page);
}

function selectNodes(em: Em, assemblyRunId: string) {
  return db(em)
    .selectFrom('assembly_nodes as n')
    .leftJoin('runs as run', 'run.id', 'n.run_id')
    .where('n.assembly_run_id', '=', assemblyRunId)
    .select([
      'n.id',
      'n.key',
      'n.position',
      'n.dependencies',
      'n.spec',
      'n.template_id as templateId',
      'n.template_version as templateVersion',
      'n.instance',
      'n.status',
      'n.reason',
      'n.waiting',
      'n.run_id as runId',
      'n.attempts',
      'n.started_at as startedAt',
      'n.finished_at as finishedAt',
      'run.plan_digest as planDigest',
      'run.plan_summary as planSummary',
      'run.instance_id as instanceId',
      'run.status_detail as statusDetail',
    ])
    .select(({ ref }) => sql<WaitingOn | null>`${ref('run.waiting_on')}`.as('runWaitingOn'));
}

/** A node as the API shows it. Times are strings. */
export type AssemblyNodeDetails = InferResult<ReturnType<typeof selectNodes>>[number];

const byPosition = {
  column: 'position',
  of: ({ position }: { position: number }) => position,
  direction: 'asc',
} as const;

/** A page of the nodes of an assembly run, in an order in which each follows those that it waits for. */
export function listNodes(em: Em, filter: NodeFilter, page: PageRequest): Promise<Page<AssemblyNodeDetails>> {
  const { assemblyRunId, status = [] } = filter;
  const nodes = selectNodes(em, assemblyRunId);
  return pageByNumber(status.length > 0 ? nodes.where('n.status', 'in', status) : nodes, byPosition, page);
}

export interface NodeFilter {
  readonly assemblyRunId: string;
  /** Only nodes with one of these statuses; all unless given. */
  readonly status?: readonly NodeStatus[] | undefined;
}

/** All nodes of an assembly run: at most as many as a spec may have. */
export function readNodes(em: Em, assemblyRunId: string): Promise<AssemblyNodeDetails[]> {
  return selectNodes(em, assemblyRunId).orderBy('n.position').execute();
}

export function readNode(em: Em, assemblyRunId: string, key: string): Promise<AssemblyNodeDetails | undefined> {
  return selectNodes(em, assemblyRunId).where('n.key', '=', key).executeTakeFirst();
}

/** The runs that a node has had, newest first. */
export function listNodeRuns(em: Em, nodeId: string) {
  return db(em)
    .selectFrom('runs as r')
    .where('r.assembly_node_id', '=', nodeId)
    .select([
      'r.id',
      'r.status',
      'r.status_reason as statusReason',
      'r.created_at as createdAt',
      'r.finished_at as finishedAt',
    ])
    .orderBy('r.id', 'desc')
    .limit(50)
    .execute();
}

/** A page of the events of an assembly run behind a number, from its admission on. */
export function listAssemblyRunEvents(em: Em, id: string, after: number, page: PageRequest) {
  return listEventsOf(em, { kind: 'assembly_run', id: id }, after, page);
}

/** How far each of these assembly runs has come. Its revision rises when one of its nodes changes, too. */
export function readWatchedAssemblyRuns(em: Em, ids: readonly string[]): Promise<{ id: string; revision: number }[]> {
  return db(em)
    .selectFrom('assembly_runs')
    .where('id', '=', (eb) => eb.fn.any(sql<string[]>`${ids}::uuid[]`))
    .select(['id', 'revision'])
    .execute();
}
