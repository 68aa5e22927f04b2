import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, actionsView, By, Time } from '#api/pipeline/schemas.ts';
import { SummaryView, viewPlanReference } from '#api/runs/plan-views.ts';
import { OutputsView, StatusDetailView, WaitingOnView } from '#api/runs/views.ts';
import { viewWaitingCode, WaitingCodeView } from '#api/runs/waiting-code-view.ts';
import { assemblyEvents } from '#domain/assemblies/events.ts';
import {
  assemblyOperations,
  assemblyRunActions,
  type NodeWaiting,
  nodeStatuses,
  nodeWaitingCodes,
} from '#domain/assemblies/model.ts';
import { showAssemblyOutputs } from '#domain/assemblies/runs/output-sources.ts';
import type { AssemblyNodeDetails, AssemblyRunDetails } from '#domain/assemblies/runs/store.ts';
import { Json } from '#domain/shared/values/json.ts';
import { runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { waitingCodes } from '#domain/shared/vocabulary/waiting.ts';

const NodeStatus = z.enum(nodeStatuses);

/** An assembly run in a list. */
export const ListedAssemblyRunView = z
  .object({
    id: AnswerId,
    idempotency_key: AnswerId,
    assembly_id: AnswerId,
    version: z.string(),
    status: z.enum(runStatuses),
    status_reason: z.string().nullable(),
    status_detail: StatusDetailView.nullable().describe('The nodes that failed, and why.'),
    waiting_on: WaitingCodeView.nullable().describe(
      'With `pending_approval`: what the runs of its nodes wait for; `approval` if one of them needs it.',
    ),
    operation: z.enum(assemblyOperations),
    team_id: AnswerId,
    project_id: AnswerId,
    environment_id: AnswerId,
    only: z.array(z.string()).nullable().describe('The nodes that it is for; null: all.'),
    concurrency: z.int(),
    variables: z.record(z.string(), Json),
    message: z.string(),
    requested_by: By,
    responsible_user_id: AnswerId.nullable(),
    outputs: OutputsView,
    nodes: z.record(z.string(), NodeStatus).describe('The status of each node, by its key.'),
    cancel_reason: z.string().nullable(),
    created_at: Time,
    started_at: Time.nullable(),
    finished_at: Time.nullable(),
    revision: z.int(),
  })
  .meta({ id: 'ListedAssemblyRun' });

export function toListedAssemblyRun(run: AssemblyRunDetails): z.input<typeof ListedAssemblyRunView> {
  return answerOf(ListedAssemblyRunView.shape, {
    ...run,
    waitingOn: run.status === 'pending_approval' ? viewWaitingCode(run.waitingOn) : null,
    requestedBy: { type: run.requestedByType, id: run.requestedById, name: run.requestedByName },
    outputs: showAssemblyOutputs(run.outputs, run.outputSources),
  });
}

/** A single assembly run. */
export const AssemblyRunView = ListedAssemblyRunView.extend({ actions: actionsView(assemblyRunActions) }).meta({
  id: 'AssemblyRun',
});

const NodeWaitingOn = WaitingOnView.extend({
  code: z.enum([...nodeWaitingCodes, ...waitingCodes]).describe('A code of a node, or that of its run.'),
  nodes: z.array(z.string()).nullable().describe('`dependencies`: the nodes that have not ended.'),
  until: Time.nullable().describe('`retry`, `admission`: when the next attempt begins.'),
}).meta({ id: 'NodeWaitingOn' });

/** A node in a list. */
export const ListedAssemblyNodeView = z
  .object({
    key: z.string(),
    status: NodeStatus,
    reason: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .describe('Why it was skipped, or ended without success.'),
    status_detail: StatusDetailView.nullable().describe('Why its latest run failed.'),
    waiting_on: NodeWaitingOn.nullable(),
    waits_for: z
      .array(z.string())
      .describe(
        'The nodes that end before it begins: those that its spec names or refers to; for a destroy, those that depend on it.',
      ),
    template_id: AnswerId,
    template_version: z.string(),
    instance: z.string(),
    instance_id: AnswerId.nullable(),
    when: z.string().nullable(),
    run_id: AnswerId.nullable().describe('Its latest run, where it is reviewed.'),
    attempts: z.int().describe('How many runs it has had since the assembly run was started or resumed.'),
    plan: z.object({ digest: z.string(), summary: SummaryView }).nullable(),
    started_at: Time.nullable(),
    finished_at: Time.nullable(),
  })
  .meta({ id: 'ListedAssemblyNode' });

export function toAssemblyNode(node: AssemblyNodeDetails): z.input<typeof ListedAssemblyNodeView> {
  return answerOf(ListedAssemblyNodeView.shape, {
    ...node,
    statusDetail: node.reason === null ? null : node.statusDetail,
    waitingOn: toWaitingOn(node),
    waitsFor: node.dependencies,
    when: node.spec.when ?? null,
    plan: viewPlanReference(node),
  });
}

type WaitingOn = z.input<typeof NodeWaitingOn>;

/** The reason why a node waits: its own, or that of its run. If its run no longer waits, the node waits until the engine notices that. */
function toWaitingOn({ status, waiting, runWaitingOn, startedAt, finishedAt }: AssemblyNodeDetails): WaitingOn | null {
  if (waiting) return describeWaiting(waiting);
  if (finishedAt !== null) return null;
  if (runWaitingOn) return { ...runWaitingOn, nodes: null, until: null };
  const isWaiting = status === 'waiting' || status === 'pending_approval';
  return isWaiting && startedAt ? describeWaiting({ code: 'engine', since: startedAt }) : null;
}

function describeWaiting({ code, since, nodes, until, blocker }: NodeWaiting): WaitingOn {
  const own = { nodes: nodes ? [...nodes] : null, until: until ?? null, blocker: blocker ?? null };
  return { code, since, position: null, ...own };
}

const eventTypes = Object.keys(assemblyEvents).filter((type) => type.startsWith('assembly_run.'));

export const AssemblyRunEventView = z
  .object({ sequence: z.int(), type: z.enum(eventTypes), data: z.record(z.string(), Json), at: Time })
  .meta({ id: 'AssemblyRunEvent' });
