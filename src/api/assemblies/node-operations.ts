import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf, repeated } from '#api/pipeline/schemas.ts';
import { ReviewRun } from '#api/runs/approvals/approval-operations.ts';
import { nodeReviewAuthority } from '#domain/assemblies/authority.ts';
import { nodeStatuses } from '#domain/assemblies/model.ts';
import { findNodeReview, findPendingRefusal, refuseUnlessPending } from '#domain/assemblies/runs/nodes/node-review.ts';
import { type AssemblyNodeDetails, listNodes, readNode } from '#domain/assemblies/runs/store.ts';
import { findReadableAssemblyRun } from '#domain/assemblies/runs/targets.ts';
import { NodeKey } from '#domain/assemblies/spec/spec.ts';
import { findRunRefusal } from '#domain/runs/actions.ts';
import { reviewRun } from '#domain/runs/approval/review.ts';
import { type RunWithFacts, readRun } from '#domain/runs/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { accessReview, nestedReadAccess } from './access.ts';
import { AssemblyRunParams } from './run-operations.ts';
import { ListedAssemblyNodeView, toAssemblyNode } from './run-views.ts';

interface NodeTarget extends Ownership {
  readonly node: AssemblyNodeDetails;
  /** Its latest run; null if it had none yet. */
  readonly run: RunWithFacts | null;
}

const reviewing = (decision: 'approve' | 'reject') => ({
  operation: 'assemblies.approve_node',
  findRefusal: ({ node: { key, status }, run }: NodeTarget, caller: Principal) =>
    findPendingRefusal({ key, status, run: run?.facts ?? null }) ??
    (run && findRunRefusal(decision, run.facts, caller)),
});

const actions = actionsOf<NodeTarget>()({ approve: reviewing('approve'), reject: reviewing('reject') });

/** A single node. */
const AssemblyNodeView = ListedAssemblyNodeView.extend({ actions: actions.view }).meta({ id: 'AssemblyNode' });

/** Shows one node with what the caller may do with it. */
function showAssemblyNode(context: ActionContext, target: NodeTarget) {
  return { ...toAssemblyNode(target.node), actions: actions.describe(context, target) };
}

const NodeParams = AssemblyRunParams.extend({ key: NodeKey });

export const list = read({
  id: 'assemblies.list_nodes',
  route: 'GET /api/v1/assemblies/:id/runs/:runID/nodes',
  summary: 'List the nodes of an assembly run; each follows those that it waits for',
  params: AssemblyRunParams,
  query: z.strictObject({ ...pageQuery, status: repeated(z.enum(nodeStatuses), { max: nodeStatuses.length }) }),
  responses: { 200: pageOf('nodes', ListedAssemblyNodeView) },
  access: nestedReadAccess,
  target: ({ em, params }) => findReadableAssemblyRun(em, { assemblyId: params.id, runId: params.runID }),
  targetName: 'assembly run',
  handle: async ({ em, params, query }) => {
    const page = await listNodes(em, { assemblyRunId: params.runID, status: query.status }, query);
    return { nodes: page.items.map(toAssemblyNode), next_cursor: page.nextCursor };
  },
});

export const get = read({
  id: 'assemblies.get_node',
  route: 'GET /api/v1/assemblies/:id/runs/:runID/nodes/:key',
  summary: 'Read a node of an assembly run',
  params: NodeParams,
  responses: { 200: AssemblyNodeView },
  access: nestedReadAccess,
  target: ({ em, params }) => findReadableAssemblyRun(em, { assemblyId: params.id, runId: params.runID }),
  targetName: 'assembly run',
  handle: async ({ em, params, target: { organizationId, teamId }, operations, principal }) => {
    const node = await readNode(em, params.runID, params.key);
    if (!node) throw new NotFound('a node of this assembly run');
    const run = node.runId === null ? null : ((await readRun(em, node.runId)) ?? null);
    return showAssemblyNode({ operations, principal }, { organizationId, teamId, node, run });
  },
});

export const approve = command({
  id: 'assemblies.approve_node',
  route: 'POST /api/v1/assemblies/:id/runs/:runID/nodes/:key/approve',
  summary: "Approve or reject the plan of a node that waits for approval: the review of the node's run",
  params: NodeParams,
  body: ReviewRun,
  responses: { 200: AssemblyNodeView },
  at: get,
  access: {
    ...nodeReviewAuthority,
    missingPermission: 'hidden',
    review: { ...accessReview, verb: 'approve', parameter: 'id' },
  },
  target: ({ em, params, lock }) =>
    findNodeReview(em, { assemblyId: params.id, runId: params.runID, key: params.key }, lock),
  targetName: 'node of the assembly run',
  resource: 'runs',
  resourceId: ({ target }) => target?.run?.id ?? null,
  idempotency: 'optional',
  audit: 'run.reviewed',
  handle: async ({ tx, target, body, principal }) => {
    const { decision, comment, plan_digest: planDigest } = body;
    const reviewed = refuseUnlessPending(target);
    await reviewRun(tx, reviewed, principal, { decision, comment, planDigest });
    return { id: reviewed.id, after: body, revision: reviewed.revision };
  },
  atParams: (_change, { params }) => params,
});
