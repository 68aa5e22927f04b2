import { Instance } from '#domain/instances/entity.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { throwIfRefused } from '#domain/shared/actions.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { readPoolAccess } from '#domain/workers/pools/store.ts';
import { runWorkflow } from '../model.ts';
import { publishRunEvent } from '../publish-event.ts';
import { type RunView, runColumns } from '../store.ts';
import type { PreparedRun } from './resolve.ts';
import { findArchivedRefusal, findClosedPoolRefusal, findOccupiedRefusal, type Occupant } from './rules.ts';
import type { AdmissionTarget } from './target.ts';

/** A run that is admitted once the transaction has committed. */
export interface AdmittedRun {
  readonly id: string;
  readonly teamId: string | null;
  readonly revision: number;
  /** As it was admitted; there once the transaction is over. */
  readonly view: Promise<RunView>;
}

/**
 * Admits a run: it gets its place in its instance's line, and its workflow will be started under the command's key.
 * The rows of `target` are locked by the caller.
 */
export async function admitRun(
  tx: Transaction,
  key: string,
  target: AdmissionTarget,
  { instance, prepare }: { instance: string; prepare: () => Promise<PreparedRun> },
  requester: Principal,
): Promise<AdmittedRun> {
  throwIfRefused(findArchivedRefusal(target));
  const [prepared, place] = await Promise.all([prepare(), takePlace(tx, target, instance)]);
  const view = insertRun(tx, {
    ...describeWork(prepared),
    ...describeOwner(target),
    ...describeRequester(requester),
    idempotency_key: key,
    status: 'queued',
    phase: 'queued',
    waiting_on: { code: 'engine', since: new Date().toISOString(), position: null, blocker: null },
    instance_id: place.id,
    instance,
    instance_position: place.position,
    outputs: {},
    created_at: new Date(),
  });
  await refuseClosedPool(tx, target, prepared.pool);
  const { runId: id, operation } = prepared;
  publishRunEvent(tx, { id, teamId: target.teamId }, 'run.admitted', { by: requester.name, operation });
  tx.notifyEngine(key, { kind: 'start', workflow: runWorkflow, input: { run_id: id } });
  return { id, teamId: target.teamId, revision: 1, view };
}

/** Answers the run as it is read; with everything that is not given as the table has it by itself. */
function insertRun(tx: Transaction, row: Record<string, unknown>): Promise<RunView> {
  const names = Object.keys(row);
  const rows = tx.send(
    tx.em.execute<RunView[]>(
      `insert into runs as r (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) returning ${runColumns}`,
      Object.values(row),
    ),
  );
  const view = readBack(rows.then(([inserted]) => inserted));
  view.catch(() => undefined); // The commit says so, and then nobody may ask.
  return view;
}

async function refuseClosedPool(tx: Transaction, target: AdmissionTarget, pool: string): Promise<void> {
  throwIfRefused(findClosedPoolRefusal({ name: pool, access: await readPoolAccess(tx.em, pool) }, target));
}

function describeWork(prepared: PreparedRun) {
  const { runId: id, templateVersionId, templateVersion, operation, message, pool, approval } = prepared;
  return {
    ...{ id, template_version_id: templateVersionId, template_version: templateVersion, operation, message, pool },
    ...{
      replace: JSON.stringify(prepared.replace),
      variables: prepared.variables,
      sealed_inputs: prepared.sealedInputs,
    },
    ...{ retry_safe: prepared.retrySafe, timeouts: { ...prepared.timeouts }, requeued_from: prepared.requeuedFrom },
    ...{ approval_required: approval.required, approval_when: approval.when, approval_allow_self: approval.allow_self },
  };
}

function describeOwner({ templateId, teamId, projectId, environmentId }: AdmissionTarget) {
  return { template_id: templateId, team_id: teamId, project_id: projectId, environment_id: environmentId };
}

function describeRequester(requester: Principal) {
  return {
    requested_by_id: requester.id,
    requested_by_type: requester.kind,
    requested_by_name: requester.name,
    credential_id: requester.credential.id,
    responsible_user_id: requester.responsibleUserId,
  };
}

interface PlaceRow extends Occupant {
  readonly id: string;
  readonly position: number;
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

async function changeTemplate(tx: Transaction, row: PlaceRow, templateId: string, name: string): Promise<void> {
  throwIfRefused(findOccupiedRefusal(row, templateId, name));
  await tx.em.nativeUpdate(Instance, { id: row.id }, { templateId });
}
