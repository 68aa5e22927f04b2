import type { Em } from '#database/database.ts';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import type { CommandChange } from '#domain/shared/audit.ts';
import {
  NothingToDo,
  runSystemCommand,
  type SystemCommandDeps,
  systemActor,
  systemCommandKey,
} from '#domain/shared/commands/system-command.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { Run } from '../../entity.ts';
import { admitRun } from '../admission.ts';
import { buildRun } from '../build-run.ts';
import { openInputsToRepeat } from '../inputs/inputs.ts';
import type { ResolvedRun } from '../run-request.ts';
import { type AdmissionTarget, findAdmissionTarget } from '../target.ts';
import { type ExpiredInstance, lockIfExpired } from './expiry-store.ts';

export interface ExpiryDeps extends SystemCommandDeps {
  readonly keyRing: KeyRing;
}

/**
 * Admits the run that destroys an expired instance with the version and variables of its deployment. It is a run like any other, and waits
 * for the approvals that its environment requires. Repeating the call is harmless. Returns false if the instance is no longer due, or if
 * its run was admitted before.
 * @throws Conflict if something that the run needs is archived
 */
export async function destroyExpired(deps: ExpiryDeps, expired: ExpiredInstance): Promise<boolean> {
  // The key is different for each deployment. It becomes the id of the run's workflow.
  const cause = expired.deployedRunId;
  const key = systemCommandKey(deps.bindingKey, 'instance.expired', cause);
  const command = { action: 'instance.expired', target: { id: expired.id }, cause } as const;
  const change = await runSystemCommand(deps, command, {
    find: (tx) => findAdmissionTarget(tx.em, expired, true),
    act: (tx, _caller, target) => admitDestruction(tx, deps.keyRing, expired, { key, target }),
  });
  return change !== undefined;
}

async function admitDestruction(
  tx: Transaction,
  keyRing: KeyRing,
  expired: ExpiredInstance,
  { key, target }: { key: string; target: AdmissionTarget | undefined },
): Promise<CommandChange> {
  const isDue = await lockIfExpired(tx.em, expired);
  if (!target || !isDue) throw new NothingToDo();
  const deployed = await tx.em.findOneOrFail(Run, { id: expired.deployedRunId });
  const resolve = () => resolveDestruction(tx.em, keyRing, target, deployed);
  const requester = systemActor('instance.expired');
  const run = await admitRun(tx, key, target, { instance: deployed.instance, resolve }, requester);
  const { id } = expired;
  tx.publish({ type: 'instance.expired', subjectId: id, owners: target, data: { run_id: run.id } });
  return { id, after: { runId: run.id }, revision: run.revision };
}

async function resolveDestruction(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  deployed: Run,
): Promise<ResolvedRun> {
  const version = await loadVersionById(em, deployed.templateVersionId);
  return buildRun(em, keyRing, target, version, {
    operation: 'destroy',
    replace: [],
    instance: deployed.instance,
    requeuedFrom: null,
    message: "The environment's time to live has passed.",
    shown: deployed.variables,
    inputs: openInputsToRepeat(keyRing, deployed.id, deployed.sealedInputs),
  });
}
