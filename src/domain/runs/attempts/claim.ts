import type { Em } from '#database/database.ts';
import { Instance } from '#domain/instances/entity.ts';
import { readState } from '#domain/instances/state/state.ts';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import { findKeptModules } from '#domain/registry/kept-modules/store.ts';
import { loadVersionById, readFiles } from '#domain/registry/publication/published.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import type { EarlierSecrets } from '#domain/shared/redaction/earlier-secrets.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import type { Isolation } from '#domain/workers/model.ts';
import { defaultEgress, type Egress } from '#domain/workers/pools/egress.ts';
import { inputsOfPhase, openInputs, type PhaseInputs } from '../admission/inputs/inputs.ts';
import { Run, RunAttempt } from '../entity.ts';
import { ApplyObstructed, NoUsableTool, SandboxDemanded } from '../errors.ts';
import { RunPlan } from '../plans/entity.ts';
import { lockReadsForShare } from '../references/recheck.ts';
import { raiseSecrets } from '../references/secret-outputs.ts';
import { findStateSecrets, noSecrets } from '../state-secrets/state-secrets.ts';
import { type DeliveredConnections, deliverConnections, lockBindersForShare } from './claiming/connections.ts';
import { isObstructed } from './claiming/start-check.ts';
import { chooseToolOfClaim } from './claiming/tool-choice.ts';
import { selectWaitingAttempt } from './claiming/waiting-attempt-store.ts';
import { beginLog } from './logs.ts';
import { artifactContext } from './seals.ts';
import { canBeClaimed, claimForWorker } from './store.ts';

/** Everything that a worker needs for one attempt, unsealed. It stays in the worker and its executor. */
export interface AttemptWork {
  readonly run: Run;
  readonly attempt: RunAttempt;
  readonly spec: TemplateSpec;
  readonly files: TemplateFiles;
  /** The inputs that the phase of the attempt gets. */
  readonly inputs: PhaseInputs;
  readonly state: Buffer | null;
  /** The secrets of the runs that wrote the state, for redaction. The attempt gets none of them as an input. */
  readonly stateSecrets: EarlierSecrets;
  /** For an apply: the artifact of its plan. */
  readonly artifact: Buffer | null;
  /** The executor's own digest of that plan. */
  readonly planDigest: string | null;
  /** The tool that the attempt uses; null for commands. */
  readonly tool: VersionedTool | null;
  /** Whether anything is bound where the run is. */
  readonly isBound: boolean;
  /** What connections provide in this phase. */
  readonly connections: DeliveredConnections;
  /** The modules that the version resolved to before; null if they are not known. */
  readonly modules: KeptModules | null;
  /** What the template code may reach over the network. */
  readonly egress: Egress;
}

/** The worker that claims an attempt, and what it would execute the template code with. */
export interface Claimant {
  readonly workerId: string;
  readonly isolation: Isolation;
  /** The tools that it has at this moment, those that it prefers first. */
  readonly tools: readonly VersionedTool[];
  /** The origin that its tokens name as their issuer; null if it is not known. */
  readonly issuer: string | null;
}

/**
 * Gives an attempt to a worker, once: nothing runs twice, however often the engine delivers the attempt. Null if another worker has the
 * attempt, if it has ended, or if it is no longer the current one of its run.
 * @throws ApplyObstructed if something now keeps the apply from starting; the attempt stays unclaimed
 * @throws SandboxDemanded if the run now demands a sandbox and the worker has none; the attempt stays unclaimed
 * @throws ConnectionsRefused if a connection that its template needs cannot be provided; the attempt stays unclaimed
 * @throws ReadsRefused if the owner of an instance no longer lets the run read its outputs; the attempt stays unclaimed
 * @throws NoUsableTool if the worker has no tool that the instance needs and the settings now allow; the attempt stays unclaimed
 */
export function claimAttempt(
  em: Em,
  keyRing: KeyRing,
  attemptId: string,
  claimant: Claimant,
): Promise<AttemptWork | null> {
  return em.transactional((tx) => claim(tx, keyRing, attemptId, claimant));
}

/** Whether no run has deployed or written anything to an instance, so that nothing of it holds secrets. */
function isUntouched({ stateSerial, deployedRunId, unrecordedRunId, outputs }: Instance): boolean {
  const isWritten = stateSerial > 0 || deployedRunId || unrecordedRunId;
  return !isWritten && Object.keys(outputs).length === 0;
}

async function claim(em: Em, keyRing: KeyRing, attemptId: string, claimant: Claimant): Promise<AttemptWork | null> {
  const [waiting] = await selectWaitingAttempt(em, { attemptId });
  if (!waiting) return null;
  if (await isObstructed(em, waiting)) throw new ApplyObstructed(attemptId);
  const { isBound } = await lockBindersForShare(em, waiting);
  await lockReadsForShare(em, waiting);
  const { workerId, isolation } = claimant;
  const claimed = await claimForWorker(em, { attemptId, workerId, isolation });
  if (claimed === null) {
    if (await canBeClaimed(em, attemptId)) throw new SandboxDemanded(attemptId);
    return null;
  }
  const { runId } = claimed;
  const run = await em.findOneOrFail(Run, { id: runId });
  const attempts = await em.find(RunAttempt, { runId }, { orderBy: { id: 'asc' } });
  const attempt = attempts.find(({ id }) => id === attemptId);
  if (!attempt) throw new Error(`the run ${runId} has no attempt ${attemptId}, which was claimed`);
  return describeWork(em, keyRing, claimant, { ...claimed, run, attempt, attempts, isBound, egress: waiting.egress });
}

/** An attempt that a worker has just claimed, and the attempts of its run, oldest first. */
interface ClaimedAttempt {
  readonly run: Run;
  readonly attempt: RunAttempt;
  readonly attempts: readonly RunAttempt[];
  /** The isolation of the worker. */
  readonly isolation: Isolation;
  readonly isBound: boolean;
  readonly egress: Egress | null;
}

/**
 * Everything that the worker needs for an attempt that the transaction has given to it. Begins the log of the attempt.
 * @throws ConnectionsRefused, NoUsableTool like `claimAttempt`
 */
export async function describeWork(
  em: Em,
  keyRing: KeyRing,
  claimant: Claimant,
  { run, attempt, attempts, isolation, isBound, egress }: ClaimedAttempt,
): Promise<AttemptWork> {
  const { workerId, issuer } = claimant;
  const { id: runId, templateVersionId: versionId, environmentId = null } = run;
  const { spec } = await loadVersionById(em, versionId);
  const files = await readFiles(em, versionId);
  const tool = await chooseToolOfClaim(em, claimant, run);
  if (tool === undefined) throw new NoUsableTool(attempt.id, claimant.tools);
  const instance = await em.findOneOrFail(Instance, { id: run.instanceId });
  const { id: instanceId, stateSerial } = instance;
  const connections = await deliverConnections(em, keyRing, { run, attempt, spec, workerId, issuer, isBound });
  await beginLog(em, { run, attempt, attempts, isolation });
  const chosen = tool === 'needless' ? null : tool;
  const inputs = inputsOfPhase(await raiseSecrets(em, openInputs(keyRing, runId, run.sealedInputs)), attempt.phase);
  const plan = attempt.phase === 'applying' ? await em.findOneOrFail(RunPlan, { runId }) : null;
  return {
    run,
    attempt,
    spec,
    files,
    inputs,
    state: stateSerial > 0 ? await readState(em, keyRing, instanceId, stateSerial) : null,
    stateSecrets: isUntouched(instance) ? noSecrets : await findStateSecrets(em, keyRing, instanceId, inputs.sensitive),
    artifact: plan?.artifact ? keyRing.open(artifactContext(runId), plan.artifact) : null,
    planDigest: plan?.executorDigest ?? null,
    tool: chosen,
    isBound,
    connections,
    modules: chosen && (await findKeptModules(em, { versionId, tool: chosen.name, environmentId })),
    egress: egress ?? defaultEgress,
  };
}
