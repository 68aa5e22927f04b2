import { command } from '#api/pipeline/operation.ts';
import { refuseRepetition } from '#domain/runs/actions.ts';
import { admitRun } from '#domain/runs/admission/admission.ts';
import {
  admissionOf,
  findRequeueTarget,
  pinOf,
  pinOfCopy,
  resolveCopy,
  resolveRequeue,
} from '#domain/runs/admission/repeat.ts';
import { refuseDependentsOf } from '#domain/runs/references/dependents.ts';
import { showAdmittedRun } from './actions.ts';
import { CopyRun, splitOptions } from './bodies.ts';
import { accessReview, createAccess, getRun, RunParams } from './operations.ts';
import { RunView } from './views.ts';

export const requeue = command({
  id: 'runs.requeue',
  route: 'POST /api/v1/runs/:id/requeue',
  summary: 'Run an ended run again, with the same version and inputs, as a new run',
  params: RunParams,
  responses: { 202: RunView },
  at: getRun,
  access: { ...createAccess, review: { ...accessReview, verb: 'requeue' } },
  target: ({ em, params, lock }) => findRequeueTarget(em, params.id, lock),
  targetName: 'run',
  idempotency: 'optional',
  audit: 'run.requeued',
  handle: async ({ tx, key, target, principal, services, operations }) => {
    const { run: source } = target;
    refuseRepetition('requeue', { ...source, isDeleted: target.isDeleted });
    const admission = admissionOf(target);
    if (source.operation === 'destroy') {
      const place = { environmentId: admission.environmentId, instance: source.instance };
      const remedy = 'copy the run with despite_dependents';
      await refuseDependentsOf(tx.em, place, { principal, despiteDependents: false, remedy });
    }
    const resolve = () => resolveRequeue(tx.em, services.keyRing, source, admission);
    const run = await admitRun(tx, key ?? '', admission, { instance: source.instance, resolve }, principal, {
      reviewNeeds: target.reviewNeeds,
      ...pinOf(source),
    });
    const answer = showAdmittedRun({ operations, principal }, admission, run);
    return { id: run.id, after: { requeuedFrom: source.id }, revision: run.revision, answer };
  },
});

export const copy = command({
  id: 'runs.copy',
  route: 'POST /api/v1/runs/:id/copy',
  summary: 'Admit a new run with the inputs of an ended one and some changes',
  description:
    'The new run has the template, environment, instance, version, operation and variables of the old one, except for what the request ' +
    'names. It takes over the secrets that you gave. Those of other persons it takes over only if version, instance, all variables and the environment variables stay the ' +
    "same; otherwise 422 names them: name them, or omit them (`prefill` of the run lists its secrets). Environment variables and the environment's secrets are today's. Those who may not approve the " +
    'old run may not approve the new one.',
  params: RunParams,
  body: CopyRun.prefault({}),
  responses: { 202: RunView },
  at: getRun,
  access: { ...createAccess, review: { ...accessReview, verb: 'copy' } },
  target: ({ em, params, lock }) => findRequeueTarget(em, params.id, lock),
  targetName: 'run',
  idempotency: 'optional',
  audit: 'run.copied',
  handle: async ({ tx, key, target, body, principal, services, operations }) => {
    const { run: source } = target;
    refuseRepetition('copy', { ...source, isDeleted: target.isDeleted });
    const admission = admissionOf(target);
    const { despite_dependents: despiteDependents, ...changes } = splitOptions(body);
    const resolve = () => resolveCopy(tx, services, { run: source, target: admission, changes }, principal);
    const instance = body.instance ?? source.instance;
    const place = { environmentId: admission.environmentId, instance };
    if ((body.operation ?? source.operation) === 'destroy')
      await refuseDependentsOf(tx.em, place, { principal, despiteDependents });
    const run = await admitRun(tx, key ?? '', admission, { instance, resolve }, principal, {
      reviewNeeds: target.reviewNeeds,
      expects: (run) => pinOfCopy(services.keyRing, source, run),
    });
    const answer = showAdmittedRun({ operations, principal }, admission, run);
    return { id: run.id, after: { copiedFrom: source.id }, revision: run.revision, answer };
  },
});
