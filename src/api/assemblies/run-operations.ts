import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import {
  longestWaitMs,
  refuseIdleRevision,
  WaitQuery,
  waitForRevision,
} from '#api/pipeline/long-answers/wait-query.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf, repeated } from '#api/pipeline/schemas.ts';
import { assemblyRunAuthority } from '#domain/assemblies/authority.ts';
import { assemblyOperations } from '#domain/assemblies/model.ts';
import { resumeAssemblyRun } from '#domain/assemblies/runs/admission/resume.ts';
import { startAssemblyRun } from '#domain/assemblies/runs/admission/start.ts';
import { cancelAssemblyRun } from '#domain/assemblies/runs/cancel.ts';
import { findResumeRefusal, findStatusRefusal } from '#domain/assemblies/runs/rules.ts';
import {
  type AssemblyRunDetails,
  listAssemblyRunEvents,
  listAssemblyRuns,
  readAssemblyRun,
} from '#domain/assemblies/runs/store.ts';
import {
  type AssemblyRunFacts,
  findAssemblyRun,
  findFactsAt,
  findOwnerOfRuns,
  findReadableAssemblyRun,
  findStartTarget,
  requireEnvironment,
} from '#domain/assemblies/runs/targets.ts';
import { maxNodes, NodeKey } from '#domain/assemblies/spec/spec.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { Json } from '#domain/shared/values/json.ts';
import { wholeNumber } from '#domain/shared/values/whole-number.ts';
import { isTerminal, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { accessReview, nestedReadAccess } from './access.ts';
import { AssemblyRunEventView, AssemblyRunView, ListedAssemblyRunView, toListedAssemblyRun } from './run-views.ts';

const assemblyGone = { message: 'the assembly was deleted: its runs can only be read' };

const actions = actionsOf<AssemblyRunFacts>()({
  cancel: { operation: 'assemblies.cancel_run', findRefusal: ({ run }) => findStatusRefusal('cancel', run.status) },
  resume: {
    operation: 'assemblies.resume_run',
    findRefusal: (target) => (target.isDeleted ? assemblyGone : findResumeRefusal(target)),
  },
});

/** Shows one assembly run with what the caller may do with it. */
export function showAssemblyRun(context: ActionContext, facts: AssemblyRunFacts, details: AssemblyRunDetails) {
  return { ...toListedAssemblyRun(details), actions: actions.describe(context, facts) };
}

const AssemblyParams = z.strictObject({ id: Id });
export const AssemblyRunParams = z.strictObject({ id: Id, runID: Id });

/** To start a run of a named assembly. Canceling and resuming a run inherit this access. */
const runAccess: Access = {
  ...assemblyRunAuthority,
  missingPermission: 'hidden',
  review: { ...accessReview, verb: 'run' },
};
const inheritedRunAccess: Access = { ...runAccess, review: { inherits: 'assemblies.run' } };

export const listRuns = read({
  id: 'assemblies.list_runs',
  route: 'GET /api/v1/assemblies/:id/runs',
  summary: 'List the runs of an assembly, newest first',
  params: AssemblyParams,
  query: z.strictObject({
    ...pageQuery,
    environment_id: Id.optional(),
    status: repeated(z.enum(runStatuses), { max: runStatuses.length }),
    operation: z.enum(assemblyOperations).optional(),
  }),
  responses: { 200: pageOf('assembly_runs', ListedAssemblyRunView) },
  access: nestedReadAccess,
  target: ({ em, params }) => findOwnerOfRuns(em, params.id),
  targetName: 'assembly',
  handle: async ({ em, params, query }) => {
    const { environment_id: environmentId, status, operation } = query;
    const page = await listAssemblyRuns(em, { assemblyId: params.id, environmentId, status, operation }, query);
    return { assembly_runs: page.items.map(toListedAssemblyRun), next_cursor: page.nextCursor };
  },
});

export const getRun = read({
  id: 'assemblies.get_run',
  route: 'GET /api/v1/assemblies/:id/runs/:runID',
  summary: 'Read an assembly run, with the status of each node',
  description:
    'With `wait`, the request is answered at the next change of the run or of one of its nodes. Name the `revision` that you have, so that you ' +
    'miss no change between two requests.',
  params: AssemblyRunParams,
  query: WaitQuery,
  responses: { 200: AssemblyRunView },
  access: nestedReadAccess,
  target: ({ em, params }) => findReadableAssemblyRun(em, { assemblyId: params.id, runId: params.runID }),
  targetName: 'assembly run',
  waits: {
    longestMs: longestWaitMs,
    begin: ({ query, target: { run }, services }) =>
      waitForRevision(services.assemblyRunFeed, { ...run, hasEnded: isTerminal(run.status) }, query),
  },
  handle: async ({ em, target, operations, principal, query }) => {
    refuseIdleRevision(query);
    const details = await readAssemblyRun(em, target.run.id);
    if (!details) throw new NotFound('assembly run');
    const facts = await findFactsAt(em, target, details.status);
    return showAssemblyRun({ operations, principal }, facts, details);
  },
});

export const RunAssembly = z
  .strictObject({
    version: z
      .string()
      .min(1)
      .max(128)
      .default('latest')
      .describe(
        'A version, a range such as ^1.2, or latest. A destroy takes only its concurrency: each node has the version that deployed it.',
      ),
    environment_id: Id,
    operation: z.enum(assemblyOperations).default('apply'),
    variables: z.record(z.string(), Json).default({}),
    only: z
      .array(NodeKey)
      .min(1)
      .max(maxNodes)
      .optional()
      .describe('Run these nodes only, with the recorded outputs of the others.'),
    message: z.string().max(4000).default(''),
  })
  .meta({ id: 'RunAssembly' });

export const run = command({
  id: 'assemblies.run',
  route: 'POST /api/v1/assemblies/:id/runs',
  summary: 'Run an assembly: `plan` previews all nodes, `destroy` goes through what was deployed in reverse',
  description:
    'Answers 202 once the run is recorded. The Idempotency-Key is the id of its workflow; after a lost answer, read the outcome by it. Each node is a run of its own, ' +
    'with your authority at the time when it begins.',
  params: AssemblyParams,
  body: RunAssembly,
  responses: { 202: AssemblyRunView },
  at: getRun,
  access: runAccess,
  target: ({ em, params, body, lock }) =>
    findStartTarget(em, { assemblyId: params.id, environmentId: body.environment_id }, lock),
  targetName: 'assembly',
  resource: 'assembly_runs',
  resourceId: () => null,
  idempotency: 'optional',
  audit: 'assembly_run.created',
  handle: async ({ tx, key, target, body, principal, services }) => {
    const wanted = { key: key ?? '', target: requireEnvironment(target), request: body };
    const started = await startAssemblyRun(tx, services, wanted, principal);
    const { id, revision, operation, version, environmentId } = started;
    return { id, revision, after: { operation, version, environmentId, assemblyId: target.assemblyId } };
  },
  atParams: ({ id }, { params }) => ({ id: params.id, runID: id }),
});

const CancelAssemblyRun = z.strictObject({ reason: z.string().max(1000).optional() }).meta({ id: 'CancelAssemblyRun' });

export const cancelRun = command({
  id: 'assemblies.cancel_run',
  route: 'POST /api/v1/assemblies/:id/runs/:runID/cancel',
  summary: 'Cancel an assembly run, and the runs of its nodes',
  params: AssemblyRunParams,
  body: CancelAssemblyRun.default({}),
  responses: { 202: AssemblyRunView },
  at: getRun,
  access: inheritedRunAccess,
  target: ({ em, params, lock }) => findAssemblyRun(em, { assemblyId: params.id, runId: params.runID }, lock),
  targetName: 'assembly run',
  resource: 'assembly_runs',
  idempotency: 'optional',
  audit: 'assembly_run.cancel_requested',
  handle: async ({ tx, target, body, principal }) => {
    await cancelAssemblyRun(tx, target.run, body.reason, principal.name);
    return { id: target.run.id, revision: target.run.revision, after: body };
  },
  atParams: (_change, { params }) => params,
});

export const resumeRun = command({
  id: 'assemblies.resume_run',
  route: 'POST /api/v1/assemblies/:id/runs/:runID/resume',
  summary: 'Go on with an assembly run that ended without success, under your authority',
  description: 'Nodes that succeeded keep their outputs; the others begin anew. It stays the same run.',
  params: AssemblyRunParams,
  responses: { 202: AssemblyRunView },
  at: getRun,
  access: inheritedRunAccess,
  target: ({ em, params, lock }) => findAssemblyRun(em, { assemblyId: params.id, runId: params.runID }, lock),
  targetName: 'assembly run',
  resource: 'assembly_runs',
  idempotency: 'optional',
  audit: 'assembly_run.resumed',
  handle: async ({ tx, key, target, principal }) => {
    const before = { status: target.run.status };
    await resumeAssemblyRun(tx, key ?? '', target, principal);
    return { id: target.run.id, revision: target.run.revision, before, after: { status: target.run.status } };
  },
  atParams: (_change, { params }) => params,
});

export const listEvents = read({
  id: 'assemblies.get_run_events',
  route: 'GET /api/v1/assemblies/:id/runs/:runID/events',
  summary: 'Read the events of an assembly run, oldest first',
  params: AssemblyRunParams,
  query: z.strictObject({ ...pageQuery, after: wholeNumber({ min: 0 }).default(0) }),
  responses: { 200: pageOf('events', AssemblyRunEventView) },
  access: nestedReadAccess,
  target: ({ em, params }) => findReadableAssemblyRun(em, { assemblyId: params.id, runId: params.runID }),
  targetName: 'assembly run',
  handle: async ({ em, params, query }) => {
    const page = await listAssemblyRunEvents(em, params.runID, query.after, query);
    return { events: page.items, next_cursor: page.nextCursor };
  },
});
