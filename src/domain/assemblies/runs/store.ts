import { type InferResult, type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { listEventsOf } from '#domain/shared/events/subject-events-store.ts';
import { type Page, type PageRequest, pageByNumber, pageOf } from '#domain/shared/paging/paging.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingOn } from '#domain/shared/vocabulary/waiting.ts';
import type { AssemblyOperation, NodeStatus } from '../model.ts';
import { selectOutputSources } from './output-sources.ts';

function selectRuns(queries: Kysely<Tables>) {
  return queries
    .selectFrom('assembly_runs as r')
    .select([
      'r.id',
      'r.idempotencyKey',
      'r.assemblyId',
      'r.version',
      'r.teamId',
      'r.projectId',
      'r.environmentId',
      'r.operation',
      'r.status',
      'r.statusReason',
      'r.statusDetail',
      'r.only',
      'r.concurrency',
      'r.variables',
      'r.outputs',
      selectOutputSources().as('outputSources'),
      'r.message',
      'r.requestedById',
      'r.requestedByType',
      'r.requestedByName',
      'r.responsibleUserId',
      'r.cancelReason',
      'r.createdAt',
      'r.startedAt',
      'r.finishedAt',
      'r.revision',
    ])
    .select((eb) =>
      eb
        .selectFrom('assembly_nodes as n')
        .whereRef('n.assemblyRunId', '=', 'r.id')
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

/** What the nodes with waiting plans wait for: `approval` if one of them needs it; null if there are no such nodes. */
function selectPendingWait(eb: Over<{ r: 'assembly_runs' }>) {
  return eb
    .selectFrom('assembly_nodes as n')
    .innerJoin('runs as run', 'run.id', 'n.runId')
    .whereRef('n.assemblyRunId', '=', 'r.id')
    .where('n.status', '=', 'pending_approval')
    .select((of) => sql<WaitingOn | null>`${of.ref('run.waitingOn')}`.as('waitingOn'))
    .orderBy((of) => sql`${of.ref('run.waitingOn')} ->> 'code' is distinct from 'approval'`)
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
  let listed = selectRuns(db(em)).where('r.assemblyId', '=', assemblyId);
  if (environmentId !== undefined) listed = listed.where('r.environmentId', '=', environmentId);
  if (status !== undefined) listed = listed.where('r.status', 'in', status);
  if (operation !== undefined) listed = listed.where('r.operation', '=', operation);
  return pageOf(listed, 'r.id', page);
}

function selectNodes(em: Em, assemblyRunId: string) {
  return db(em)
    .selectFrom('assembly_nodes as n')
    .leftJoin('runs as run', 'run.id', 'n.runId')
    .where('n.assemblyRunId', '=', assemblyRunId)
    .select([
      'n.id',
      'n.key',
      'n.position',
      'n.dependencies',
      'n.spec',
      'n.templateId',
      'n.templateVersion',
      'n.instance',
      'n.status',
      'n.reason',
      'n.waiting',
      'n.runId',
      'n.attempts',
      'n.startedAt',
      'n.finishedAt',
      'run.planDigest',
      'run.planSummary',
      'run.instanceId',
      'run.statusDetail',
    ])
    .select(({ ref }) => sql<WaitingOn | null>`${ref('run.waitingOn')}`.as('runWaitingOn'));
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
  /** Only nodes with one of these statuses; by default all. */
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
    .where('r.assemblyNodeId', '=', nodeId)
    .select(['r.id', 'r.status', 'r.statusReason', 'r.createdAt', 'r.finishedAt'])
    .orderBy('r.id', 'desc')
    .limit(50)
    .execute();
}

/** A page of the events of an assembly run after a number, beginning with its admission. */
export function listAssemblyRunEvents(em: Em, id: string, after: number, page: PageRequest) {
  return listEventsOf(em, { kind: 'assembly_run', id: id }, after, page);
}

/** The revisions of assembly runs, for clients that watch them. A revision also rises when a node of the run changes. */
export function readWatchedAssemblyRuns(em: Em, ids: readonly string[]): Promise<{ id: string; revision: number }[]> {
  return db(em)
    .selectFrom('assembly_runs')
    .where('id', '=', (eb) => eb.fn.any(sql<string[]>`${ids}::uuid[]`))
    .select(['id', 'revision'])
    .execute();
}
