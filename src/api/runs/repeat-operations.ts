import { z } from 'zod';
import { command } from '#api/pipeline/operation.ts';
import { refuseRepetition } from '#domain/runs/actions.ts';
import { admitRun } from '#domain/runs/admission/admission.ts';
import { resolveCopy } from '#domain/runs/admission/copy.ts';
import { admissionOf, findRequeueTarget, resolveRequeue } from '#domain/runs/admission/requeue.ts';
import { runOperations } from '#domain/runs/model.ts';
import { Json } from '#domain/shared/values/json.ts';
import { showAdmittedRun } from './actions.ts';
import { accessReview, createAccess, getRun, InstanceName, RunParams } from './operations.ts';
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
    refuseRepetition('requeue', { status: target.run.status, isDeleted: target.isDeleted });
    const admission = admissionOf(target);
    const resolve = () => resolveRequeue(tx.em, services.keyRing, target.run, admission);
    const run = await admitRun(tx, key ?? '', admission, { instance: target.run.instance, resolve }, principal);
    const answer = showAdmittedRun({ operations, principal }, admission, run);
    return { id: run.id, after: { requeuedFrom: target.run.id }, revision: run.revision, answer };
  },
});

const CopyRun = z
  .strictObject({
    version: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('The version of the run unless given, even if it was yanked.'),
    instance: InstanceName.optional(),
    operation: z.enum(runOperations).optional(),
    replace: z
      .array(z.string().min(1).max(1024))
      .max(100)
      .optional()
      .describe('Those of the run unless given, or none if the operation is another one.'),
    variables: z.record(z.string(), Json).default({}).describe('They take the place of those of the run.'),
    omit: z
      .array(z.string().min(1).max(255))
      .max(1000)
      .default([])
      .describe(
        "Variables of the run that are not taken over: the environment's value or the default takes their place.",
      ),
    message: z.string().max(4000).optional(),
  })
  .meta({ id: 'CopyRun' });

export const copy = command({
  id: 'runs.copy',
  route: 'POST /api/v1/runs/:id/copy',
  summary: 'Admit a new run with the inputs of an ended one and some changes',
  description:
    'The new run has the template, environment, instance, version, operation and variables of the old one, except for what the request ' +
    'names. It takes over secret variables only if version, instance, all variables and the environment variables stay the same; otherwise name those that it needs ' +
    "(`prefill` of the run lists them). Environment variables and the environment's secrets are today's. Those who may not approve the " +
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
    refuseRepetition('copy', { status: source.status, isDeleted: target.isDeleted });
    const admission = admissionOf(target);
    const resolve = () => resolveCopy(tx, services, { run: source, target: admission, changes: body }, principal);
    const instance = body.instance ?? source.instance;
    const run = await admitRun(tx, key ?? '', admission, { instance, resolve }, principal);
    const answer = showAdmittedRun({ operations, principal }, admission, run);
    return { id: run.id, after: { copiedFrom: source.id }, revision: run.revision, answer };
  },
});
