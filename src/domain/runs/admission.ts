import { Instance } from '#domain/instances/entity.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import type { Transaction } from '#domain/shared/transaction.ts';
import { isPoolOpen } from '#domain/workers/pools.ts';
import { type AdmissionTarget, refuseArchived } from './admission-target.ts';
import { Run } from './entity.ts';
import { recordEvent } from './events.ts';
import { runWorkflow } from './model.ts';
import type { PreparedRun } from './prepare.ts';

/**
 * Admits a run: it gets its place in its instance's line, and its workflow will be started under the command's key.
 * The rows of `target` are locked by the caller.
 */
export async function admitRun(
  tx: Transaction,
  key: string,
  target: AdmissionTarget,
  prepared: PreparedRun,
  requester: Principal,
): Promise<Run> {
  refuseArchived(target);
  await refuseClosedPool(tx, target, prepared.pool);
  const place = await takePlace(tx, target, prepared.instance);
  const run = tx.em.create(Run, {
    ...describeWork(prepared),
    ...describeOwner(target),
    ...describeRequester(requester),
    id: prepared.runId,
    idempotencyKey: key,
    status: 'queued',
    phase: 'queued',
    waitingOn: { code: 'engine', since: new Date().toISOString(), position: null, blocker: null },
    instanceId: place.id,
    instance: prepared.instance,
    instancePosition: place.position,
    outputs: {},
  });
  await tx.em.persist(run).flush();
  await recordEvent(tx.em, run.id, 'run.admitted', { by: requester.name, operation: run.operation });
  tx.tell(key, { kind: 'start', workflow: runWorkflow, input: { run_id: run.id } });
  return run;
}

async function refuseClosedPool(tx: Transaction, target: AdmissionTarget, pool: string): Promise<void> {
  if (await isPoolOpen(tx.em, pool, target)) return;
  throw new Conflict(
    `the worker pool "${pool}" is not open to this team or environment: ask who manages workers, or use another pool`,
  );
}

function describeWork(prepared: PreparedRun) {
  const { templateVersionId, templateVersion, operation, replace, variables, sealedInputs, message } = prepared;
  const { pool, retrySafe, timeouts, approval, requeuedFrom } = prepared;
  return {
    ...{ templateVersionId, templateVersion, operation, replace, variables, sealedInputs, message },
    ...{ pool, retrySafe, timeouts, requeuedFrom },
    ...{ approvalRequired: approval.required, approvalWhen: approval.when, approvalAllowSelf: approval.allow_self },
  };
}

function describeOwner({ templateId, teamId, projectId, environmentId }: AdmissionTarget) {
  return { templateId, teamId, projectId, environmentId };
}

function describeRequester(requester: Principal) {
  return {
    requestedById: requester.id,
    requestedByType: requester.kind,
    requestedByName: requester.name,
    credentialId: requester.credential.id,
    responsibleUserId: requester.responsibleUserId,
  };
}

interface PlaceRow {
  id: string;
  template_id: string;
  resource_count: number;
  position: number;
}

/** Finds or makes the instance and takes the next place in its line; the instance's row stays locked. */
async function takePlace(
  tx: Transaction,
  target: AdmissionTarget,
  name: string,
): Promise<{ id: string; position: number }> {
  const conflict = target.environmentId
    ? `(environment_id, name) where environment_id is not null`
    : `(template_id, name) where environment_id is null`;
  const [row] = await tx.em.execute<[PlaceRow]>(
    `insert into instances (id, team_id, environment_id, template_id, name, next_position, outputs, created_at)
     values (?, ?, ?, ?, ?, 2, '{}', clock_timestamp())
     on conflict ${conflict} do update set next_position = instances.next_position + 1
     returning id, template_id, resource_count, next_position - 1 as position`,
    [newId(), target.teamId, target.environmentId, target.templateId, name],
  );
  if (row.template_id !== target.templateId) await changeTemplate(tx, row, target.templateId, name);
  return { id: row.id, position: row.position };
}

/** An instance belongs to the template that made its resources, until it has none. */
async function changeTemplate(tx: Transaction, row: PlaceRow, templateId: string, name: string): Promise<void> {
  if (row.resource_count > 0) {
    throw new Conflict(
      `the instance "${name}" was deployed from another template (${row.template_id}): destroy it first, or name another instance`,
    );
  }
  await tx.em.nativeUpdate(Instance, { id: row.id }, { templateId });
}
