import { answeredFor } from '#domain/identity/stored-authority.ts';
import { admitRun } from '#domain/runs/admission/admission.ts';
import { openInputs } from '#domain/runs/admission/inputs/inputs.ts';
import { resolveRun } from '#domain/runs/admission/resolve.ts';
import type { ResolveDeps, ResolvedRun } from '#domain/runs/admission/run-request.ts';
import { type AdmissionTarget, findAdmissionTarget } from '#domain/runs/admission/target.ts';
import { authorsOfRun } from '#domain/runs/approval/repeated-authors.ts';
import { Run } from '#domain/runs/entity.ts';
import { dataSourceOf } from '#domain/runs/references/model.ts';
import { placeAllReferences } from '#domain/runs/references/place-references.ts';
import { decide } from '#domain/shared/access/decide.ts';
import { isInForce } from '#domain/shared/access/grant.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { CommandChange } from '#domain/shared/audit.ts';
import { runCommand } from '#domain/shared/commands/command.ts';
import { serviceKeyOf } from '#domain/shared/commands/service-key.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Forbidden, Unprocessable } from '#domain/shared/errors.ts';
import { enumerate } from '#domain/shared/ownership-graph/names.ts';
import { cutText } from '#domain/shared/values/text.ts';
import { followAuthority } from './authority.ts';
import type { FollowDeps, UpstreamChange } from './change.ts';
import { FollowMoved, OwnerChanged } from './errors.ts';
import { type Follow, grantOf, isBusy, lockUnchanged, noteSeen } from './follows-store.ts';

const maxMessage = 1000;

/** Why the people responsible for the repeated deployment may not approve the run. */
const repeated = {
  requested: 'you asked for the run whose variables it repeats, or for one that that run repeats',
  answers: 'you are responsible for the run whose variables it repeats',
};

/**
 * Admits the run that follows a change, under the authority of the principal who enabled following, by the same command as a request of
 * that principal. A repeated call for the same change finds the receipt of the first.
 * @throws OwnerChanged, Forbidden or another ServiceError if the run is refused; FollowMoved if the change must be read again
 */
export async function startFollower(deps: FollowDeps, change: UpstreamChange, caller: Principal): Promise<void> {
  const { instanceId, savedAt, deployedRunId } = change.follow;
  const key = serviceKeyOf(deps.bindingKey, ['follow', instanceId, savedAt, change.seen]);
  const command = {
    key,
    caller,
    operation: 'instances.follow',
    audit: { action: 'run.created', resourceType: 'runs' },
    target: { instance: instanceId },
    input: { started_by_run_id: change.startedBy },
    locks: [],
    request: { requestId: null, address: null },
  };
  await runCommand<AdmissionTarget | undefined, CommandChange, never>(deps.transactions, deps.bindingKey, command, {
    find: (tx) => findTarget(tx, change.follow),
    act: async (tx, current, target) => {
      const principal = answeredFor(current, change.follow);
      refuseForeign(change.follow, target, principal);
      await refuseMoved(tx, change);
      const deployed = await tx.em.findOneOrFail(Run, { id: deployedRunId ?? '' });
      if (deployed.sealedInputs.length === 0)
        throw new Unprocessable('the variables of its deployment were deleted', { code: 'nothing_deployed' });
      return admit(tx, deps, { change, key, target, deployed }, principal);
    },
  });
}

async function findTarget({ em }: Transaction, { deployedRunId, environmentId }: Follow) {
  const deployed = await em.findOne(Run, { id: deployedRunId ?? '' });
  if (!deployed || environmentId === null) return undefined;
  return findAdmissionTarget(em, { templateId: deployed.templateId, environmentId }, true);
}

/**
 * @throws OwnerChanged or Forbidden unless the instance still has the owners for whom it follows, and the principal may enable following
 */
function refuseForeign(
  follow: Follow,
  target: AdmissionTarget | undefined,
  principal: Principal,
): asserts target is AdmissionTarget {
  if (!target || !isInForce(grantOf(follow), target))
    throw new OwnerChanged('the instance has other owners than those for whom it follows');
  if (!decide(principal, { ...followAuthority, review: 'none' }, target).allowed) throw new Forbidden();
}

/** @throws FollowMoved if the instance or its follow setting has changed since, or if one of its runs has not ended */
async function refuseMoved({ em }: Transaction, { follow }: UpstreamChange): Promise<void> {
  const { instanceId, deployedRunId, stateSerial } = follow;
  const now = await lockUnchanged(em, follow);
  const isSame = now?.deployedRunId === deployedRunId && now.stateSerial === stateSerial;
  if (!isSame || (await isBusy(em, instanceId)))
    throw new FollowMoved(`the instance ${instanceId}, or its follow setting, changed before its run could start`);
}

interface Admission {
  readonly change: UpstreamChange;
  readonly key: string;
  readonly target: AdmissionTarget;
  readonly deployed: Run;
}

async function admit(
  tx: Transaction,
  deps: FollowDeps,
  { change, key, target, deployed }: Admission,
  principal: Principal,
): Promise<CommandChange> {
  const { follow, seen, startedBy } = change;
  const { instanceId, stateSerial } = follow;
  const message = describe(change);
  const resolve = () => resolveFollow(tx, deps, { target, deployed, message }, principal);
  const run = await admitRun(tx, key, target, { instance: deployed.instance, resolve }, principal, {
    ...(startedBy !== null && { links: { startedByRunId: startedBy } }),
    authors: await authorsOfRun(tx.em, deployed.id, repeated),
    reviewNeeds: deployed.reviewNeeds,
    expects: { stateSerial, deployedRunId: deployed.id },
  });
  await noteSeen(tx.em, follow, { seen, failure: null });
  const data = { run_id: run.id, started_by_run_id: startedBy };
  tx.publish({ type: 'instance.follow_started', subjectId: instanceId, owners: target, data });
  const after = { operation: 'apply', instanceId, startedByRunId: startedBy };
  return { id: run.id, after, revision: run.revision };
}

/** What changed, in words. */
function describe({ reads }: UpstreamChange): string {
  const instances = [...new Set(reads.map(({ instance }) => instance))];
  const outputs = [...new Set(reads.map(({ output }) => output))];
  return cutText(`Outputs of ${enumerate(instances)} changed: ${enumerate(outputs)}`, maxMessage);
}

/**
 * The run that repeats the deployment of an instance and reads the outputs of other instances again. It keeps its other secrets like every
 * run that starts from the deployment.
 * @throws Unprocessable if an output no longer exists or may no longer be read, if a variable is not valid, or if nothing provides a secret
 * any longer
 */
async function resolveFollow(
  tx: Transaction,
  deps: ResolveDeps,
  { target, deployed, message }: { target: AdmissionTarget; deployed: Run; message: string },
  requester: Principal,
): Promise<ResolvedRun> {
  const inputs = openInputs(deps.keyRing, deployed.id, deployed.sealedInputs);
  const reads = (inputs.reads ?? []).filter((read) => dataSourceOf(read) === null);
  const readAgain = placeAllReferences(inputs.variables, reads);
  const versionId = deployed.templateVersionId;
  const request = {
    version: undefined,
    instance: deployed.instance,
    operation: 'apply',
    replace: [],
    variables: readAgain,
    resolvesReferences: true,
    message,
    source: {
      runId: deployed.id,
      readAgain,
      deployment: { versionId, inputs: { ...inputs, reads: [] } },
      deployed: { runId: deployed.id, versionId, inputs, isRemoved: false },
    },
  } as const;
  return { ...(await resolveRun(tx, deps, target, request, requester)), requeuedFrom: null };
}
