import { z } from 'zod';
import { toDenial } from '#api/pipeline/access/authorization.ts';
import { foundById } from '#api/pipeline/joinable-target.ts';
import { longestWaitMs } from '#api/pipeline/long-answers/wait-query.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { readAccess as templateReadAccess } from '#domain/registry/access.ts';
import { findTemplateOwner } from '#domain/registry/store.ts';
import { admitRun } from '#domain/runs/admission/admission.ts';
import { resolveFromDeployed } from '#domain/runs/admission/inputs/from-deployed.ts';
import { resolveRun } from '#domain/runs/admission/resolve.ts';
import { type AdmissionTarget, findAdmissionTarget } from '#domain/runs/admission/target.ts';
import { runCreationAuthority } from '#domain/runs/authority.ts';
import { cancelRun } from '#domain/runs/cancel.ts';
import { deleteRun } from '#domain/runs/deletion/deletion.ts';
import { refuseDependentsOf } from '#domain/runs/references/dependents.ts';
import { addFacts, findRun, findRunDetails } from '#domain/runs/store.ts';
import { findRunToChange, findUndeletedRun, findUndeletedRunToChange } from '#domain/runs/targets.ts';
import { type Access, decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { NotFound, Unprocessable } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { showAdmittedRun, showRun } from './actions.ts';
import { CreateRun, readDeployedStart, splitOptions } from './bodies.ts';
import { RunView } from './views.ts';
import { RunWaitQuery, refuseIdleWait, waitForRun } from './wait-until.ts';

/** The target of a request for a run. `admission` is null if the environment exists but cannot run the template. */
export interface WantedTarget extends Ownership {
  readonly admission: AdmissionTarget | null;
}

export async function findWantedTarget(
  em: Em,
  wanted: { templateId: string; environmentId?: string | undefined },
  lock: boolean,
): Promise<WantedTarget | undefined> {
  const admission = await findAdmissionTarget(em, wanted, lock);
  if (admission) return { organizationId: admission.organizationId, teamId: admission.teamId, admission };
  const environment = wanted.environmentId === undefined ? null : await findEnvironment(em, wanted.environmentId);
  if (!environment) return undefined;
  return { organizationId: environment.organizationId, teamId: environment.teamId, admission: null };
}

/**
 * If the template cannot run in the environment, a caller who may read the environment may learn why. An access review of a team's runs
 * knows only the team: its target has no `admission`.
 */
export function accessToWanted(access: Access): (target: Partial<WantedTarget>) => Access {
  return ({ admission }) => (admission === null ? { ...access, teamAction: 'team.metadata.read' } : access);
}

/**
 * The target of the admission.
 * @throws the reason why the environment cannot run the template, for a caller who may read the environment
 */
export async function requireAdmission(
  target: WantedTarget,
  templateId: string,
  { em, principal, access }: { em: Em; principal: Principal; access: Access },
): Promise<AdmissionTarget> {
  if (target.admission) return target.admission;
  const template = await findTemplateOwner(em, templateId);
  // The same answer, whether the template does not exist or the caller may not read it: its existence stays hidden.
  if (!template || !decide(principal, templateReadAccess, template).allowed) throw new NotFound('the template');
  const denial = toDenial({ targetName: 'environment' }, { decision: decide(principal, access, target), access });
  throw denial ?? new Unprocessable(otherTeam, { code: 'template_of_other_team' });
}

const otherTeam =
  "template_id: the template belongs to another team than the environment: use a template of the environment's team, or one of the whole installation";

export const RunParams = z.strictObject({ id: Id });
const runTeam = { scope: 'team', hidden: 'not_found' } as const;
/** An access review of a run needs only its owner. */
export const accessReview = { resource: 'runs', unscoped: true, target: findRun } as const;

export const readAccess: Access = {
  ...runTeam,
  anyOf: ['run:read'],
  teamAction: 'team.metadata.read',
  review: { ...accessReview, verb: 'get' },
};

export const createAccess: Access = {
  ...runCreationAuthority,
  review: { ...accessReview, verb: 'create' },
};

const runById = foundById(findRunDetails, addFacts);

export const getRun = read({
  id: 'runs.get',
  route: 'GET /api/v1/runs/:id',
  summary: 'Read a run: the preferred way to poll its state',
  description:
    'With `wait`, the request is answered at the next change. Name the `revision` that you have, so that you miss no change between two ' +
    'requests. With `until=settled`, only the end of the run and a wait for approval are answered. The answer is the run as it is, whether or not it has changed. Places in a queue, `superseded_by` and `actions` change without a revision.',
  params: RunParams,
  query: RunWaitQuery,
  responses: { 200: RunView },
  access: readAccess,
  target: runById,
  targetName: 'run',
  waits: {
    longestMs: longestWaitMs,
    begin: ({ query, target: { details }, services }) => waitForRun(services.runFeed, details, query),
  },
  handle: async ({ operations, principal, query, target }) => {
    refuseIdleWait(query);
    return showRun({ operations, principal }, target);
  },
});

export const createRun = command({
  id: 'runs.create',
  route: 'POST /api/v1/runs',
  summary: 'Admit a run',
  description:
    'Answers 202 once the run is recorded. The Idempotency-Key is the id of its workflow; after a lost answer, read the outcome by it.',
  body: CreateRun,
  responses: { 202: RunView },
  at: getRun,
  access: createAccess,
  target: ({ em, body, lock }) =>
    findWantedTarget(em, { templateId: body.template_id, environmentId: body.environment_id }, lock),
  targetName: 'the template or the environment',
  accessTo: accessToWanted(createAccess),
  idempotency: 'optional',
  audit: 'run.created',
  handle: async ({ tx, key, body, target: wanted, principal, services, operations }) => {
    const target = await requireAdmission(wanted, body.template_id, { em: tx.em, principal, access: createAccess });
    const instance = body.instance ?? target.templateSlug;
    const {
      replace = [],
      despite_dependents: despiteDependents,
      variables_from,
      omit: _,
      ...asked
    } = splitOptions(body);
    const omit = readDeployedStart(body);
    const place = { environmentId: target.environmentId, instance };
    if (body.operation === 'destroy') await refuseDependentsOf(tx.em, place, { principal, despiteDependents });
    const request = { ...asked, replace, version: body.version, instance, resolvesReferences: true };
    // A destroy always takes the variables that it does not name from the deployment.
    const resolve = () =>
      omit === null || body.operation === 'destroy'
        ? resolveRun(tx, services, target, { ...request, omit: omit ?? [] }, principal)
        : resolveFromDeployed(tx, services, target, { ...request, omit }, principal);
    const run = await admitRun(tx, key ?? '', target, { instance, resolve }, principal);
    const after = {
      operation: body.operation,
      templateId: target.templateId,
      ...(variables_from && { variablesFrom: variables_from }),
    };
    const answer = showAdmittedRun({ operations, principal }, target, run);
    return { id: run.id, after, revision: run.revision, answer };
  },
});

const CancelRun = z
  .strictObject({ reason: z.string().max(1000).optional(), force: z.boolean().optional() })
  .meta({ id: 'CancelRun' });

export const cancel = command({
  id: 'runs.cancel',
  route: 'POST /api/v1/runs/:id/cancel',
  summary: 'Cancel a run; `force` ends it without waiting for its worker',
  params: RunParams,
  body: CancelRun.default({}),
  responses: { 202: RunView },
  at: getRun,
  access: {
    ...runTeam,
    anyOf: ['run:cancel'],
    teamAction: 'team.metadata.write',
    review: { ...accessReview, verb: 'cancel' },
  },
  target: ({ em, params, lock }) => findRunToChange(em, params.id, lock),
  targetName: 'run',
  idempotency: 'optional',
  audit: 'run.cancel_requested',
  handle: async ({ tx, target, body, principal }) => {
    await cancelRun(tx, target.run, body, principal.name);
    return { id: target.run.id, after: body, revision: target.run.revision };
  },
});

export const remove = command({
  id: 'runs.delete',
  route: 'DELETE /api/v1/runs/:id',
  summary: 'Delete an ended run: its log, plan and comments are purged, its lineage stays',
  params: RunParams,
  responses: { 204: Nothing },
  access: {
    ...runTeam,
    anyOf: ['run:delete'],
    teamAction: 'team.metadata.write',
    review: { ...accessReview, verb: 'delete', target: findUndeletedRun },
  },
  target: ({ em, params, lock }) => findUndeletedRunToChange(em, params.id, lock),
  targetName: 'run',
  ifMatch: true,
  idempotency: 'none',
  audit: 'run.deleted',
  handle: async ({ tx, target, principal, expectedRevision }) => {
    refuseStale(target.run, expectedRevision);
    await deleteRun(tx, target.run, principal.name);
    return { id: target.run.id };
  },
});
