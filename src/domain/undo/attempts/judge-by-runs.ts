import type { Em } from '#database/database.ts';
import type { RequeueTarget } from '#domain/runs/admission/repeat.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { loadEnvironmentVariables } from '#domain/variables/loaded.ts';
import { type Assessment, assess } from '../candidate/assess.ts';
import { dataGone, isProblem, readDeployments } from '../deployments/deployments.ts';
import { findRunInFlight } from '../deployments/deployments-store.ts';
import type { Problem } from '../model.ts';
import type { InstanceNow } from './rules.ts';

/**
 * Judges the undo of a run by the inputs of the runs of its instance, before a scan checks the instance itself. Every step of an attempt
 * repeats this. Returns a problem if the runs cannot be compared.
 * @param instance the present state of the instance; undefined if it was deleted
 */
export async function judgeByRuns(
  em: Em,
  keyRing: KeyRing,
  target: RequeueTarget,
  instance: InstanceNow | undefined,
  by: Principal,
): Promise<Assessment | Problem> {
  const { run } = target;
  const problem = await findProblem(em, target, instance);
  if (problem) return problem;
  const deployments = await readDeployments(em, keyRing, run);
  if (isProblem(deployments)) return deployments;
  if (!isLastKnown(deployments.runs.at(-1)?.row.position, instance?.deployedPosition)) return deploymentUnknown;
  const { changes, kept } = deployments.history.find(run.id) ?? { changes: [], kept: [] };
  if (changes.length === 0) return kept.length === 0 ? nothingChanged : onlyGivenChanged;
  const changed = changes.length + kept.length;
  if (changed > maxPaths) return tooManyPaths(changed);
  const environmentId = target.admission?.environmentId;
  const { template: given } = environmentId
    ? await loadEnvironmentVariables(em, keyRing, environmentId)
    : { template: {} };
  return assess(em, deployments, run.id, { principal: by, given });
}

/** Whether the last known run that changed the instance is its deployment, or a later run that failed or was partial. */
function isLastKnown(last: number | undefined, deployed: number | null | undefined): boolean {
  return last !== undefined && deployed !== null && deployed !== undefined && last >= deployed;
}

/** Why the runs cannot be compared, as far as this is visible without opening their inputs; null if there is no problem. */
export async function findProblem(
  em: Em,
  { run, admission, isDeleted }: RequeueTarget,
  instance: InstanceNow | undefined,
): Promise<Problem | null> {
  if (!admission || !instance) return targetGone;
  const archived = findArchivedRefusal(admission);
  if (archived) return { code: 'archived', message: archived.message, runId: null };
  if (isDeleted) return dataGone(run.id);
  const inFlight = await findRunInFlight(em, run.instanceId);
  return inFlight ? runInFlight(inFlight.id) : null;
}

const targetGone: Problem = {
  code: 'target_gone',
  message: 'the template, the environment or the instance of the run is gone: there is nothing to undo it in',
  runId: null,
};

const deploymentUnknown: Problem = {
  code: 'deployment_unknown',
  message:
    'the service does not know by which run the instance is deployed now: apply the values that you want in a new run',
  runId: null,
};

/** The problem of a run that changed no inputs, such as a refresh, or an apply with the inputs of the run before it. */
const nothingChanged: Problem = {
  code: 'nothing_changed',
  message: 'the run left the inputs of the instance as they were, so there is nothing to take back',
  runId: null,
};

const onlyGivenChanged: Problem = {
  code: 'nothing_changed',
  message:
    'the run only took over what its environment or a variable set had changed: change the value there, and apply again',
  runId: null,
};

/** The maximum number of changed paths, since each has a verdict that is stored and shown. */
const maxPaths = 5_000;

function tooManyPaths(changed: number): Problem {
  const message = `the run changed ${changed} paths of its inputs, and at most ${maxPaths} can be judged: apply the values that you want in a new run`;
  return { code: 'too_many_paths', message, runId: null };
}

function runInFlight(runId: string): Problem {
  const message = `the run ${runId} may still change the instance: let it end, or cancel it, and check again`;
  return { code: 'run_in_flight', message, runId };
}
