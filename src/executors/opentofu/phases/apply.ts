import { join } from 'node:path';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { type PlanFacts, unpackArtifact } from '../../attempt/artifact.ts';
import type { Attempt, AttemptSuccess } from '../../attempt/attempt.ts';
import type { OpenTofuExecutor } from '../../protocol/request.ts';
import { AttemptFailure } from '../../shared/errors.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { resultLimits } from '../../shared/result-limits.ts';
import { joinVariables, onlyEphemeral, readNames } from '../ephemeral.ts';
import { mayHaveProvisioners } from '../initialization/configuration-scan.ts';
import type { InitCache, Initialization } from '../initialization/init-cache.ts';
import { initialize } from '../initialization/initialize.ts';
import { verifyPlan } from '../plan-file/verify-plan.ts';
import { planInput, ToolSession } from '../session.ts';
import { readTofuOutputs } from '../state/outputs.ts';
import type { StateBackend } from '../state/state-backend.ts';
import { declaredFile, ephemeralFile, factsOf, hasNoProviders, parallelismOf } from './planned.ts';

const ephemeralInput = 'ephemeral.tfvars.json';
const noVariables = Buffer.from('{}');
const { planJsonBytes: maxOutputBytes } = resultLimits;

/** Applies the plan of the artifact, and nothing else. @throws AttemptFailure that says what went wrong */
export async function apply(
  attempt: Attempt,
  executor: OpenTofuExecutor,
  backend: StateBackend,
  cache: InitCache,
): Promise<AttemptSuccess> {
  if (attempt.artifact === null) throw new AttemptFailure('artifact_missing', 'there is no plan to apply');
  const { facts, files } = unpackArtifact(attempt.artifact, attempt.request.planDigest ?? null);
  const ephemeral = onlyEphemeral(attempt.request.variables, readNames(files.get(ephemeralFile)));
  const variables = joinVariables(files.get('variables') ?? noVariables, ephemeral);
  const session = new ToolSession(attempt, executor, backend, variables);
  learnVariables(attempt, session.variables);
  refuseOtherPlan(session, facts);
  const lease = await initialize(session, cache, { lock: files.get('lock') ?? null, modules: facts.modules });
  try {
    if (facts.modules !== lease.initialized.modules) throw mismatch('with other modules');
    const planned = files.get('plan') ?? Buffer.alloc(0);
    await verifyPlan(session, lease.initialized, planned);
    await applyPlan(session, lease.initialized, { plan: planned, ephemeral });
    const outputs = await readTofuOutputs(attempt, () => askOutputs(session, lease.initialized));
    return withNull(outputs, attempt, files.get(declaredFile));
  } finally {
    lease.release();
  }
}

/** The tools leave outputs that are null out of the state. Here they are values: another node may be given null. */
function withNull(success: AttemptSuccess, { request }: Attempt, declared: Buffer | undefined): AttemptSuccess {
  // Waiting plans of earlier releases do not say what is declared.
  const outputs = declared === undefined ? {} : parseJson(declared);
  if (request.operation === 'destroy' || !isObject(outputs)) return success;
  const empty = Object.entries(outputs).map(([name, output]) => {
    const isSecret = isObject(output) && output['sensitive'] === true;
    return [name, { value: null, sensitive: isSecret || request.outputs[name]?.sensitive === true }] as const;
  });
  return { ...success, outputs: { ...Object.fromEntries(empty), ...success.outputs } };
}

function refuseOtherPlan(session: ToolSession, facts: PlanFacts): void {
  const wanted = factsOf(session, { data: '', lock: null, modules: facts.modules }, facts);
  if (canonicalJson(wanted) !== canonicalJson(facts)) {
    throw mismatch('by another tool, for another operation or from other files');
  }
}

function mismatch(how: string): AttemptFailure {
  return new AttemptFailure('artifact_mismatch', `the plan was made ${how}`);
}

/** Redacts the secrets among the plan's variables, in case they differ from the run's. */
function learnVariables({ request, redactor }: Attempt, variables: Buffer): void {
  const parsed = parseJson(variables);
  if (!isObject(parsed)) return;
  for (const name of request.sensitiveVariables) redactor.learn(parsed[name] ?? null);
}

async function applyPlan(
  session: ToolSession,
  initialized: Initialization,
  { plan, ephemeral }: { readonly plan: Buffer; readonly ephemeral: Buffer },
): Promise<void> {
  await session.call({
    subcommand: 'apply',
    options: (paths) => [
      '-input=false',
      '-no-color',
      '-lock-timeout=30s',
      ...parallelismOf(session.attempt),
      ...session.applyVariablesOptions(paths, ephemeral.equals(noVariables) ? null : ephemeralInput),
      join(paths.input, planInput),
    ],
    reason: 'apply_failed',
    initialized,
    extraFiles: new Map([
      [planInput, plan],
      [ephemeralInput, ephemeral],
    ]),
    network: { state: true, egress: true },
    // Provisioners inherit the tool's environment, including its garbage collector's settings.
    relaxedGc:
      hasNoProviders(initialized) && initialized.modules === '' && !mayHaveProvisioners(session.executor.files),
  });
}

/** Asks the tool for the outputs, because only it can read a state that the template encrypts. */
async function askOutputs(session: ToolSession, initialized: Initialization): Promise<Buffer> {
  const { captured } = await session.call({
    subcommand: 'output',
    options: (paths) => ['-json', '-no-color', ...session.earlyEvaluationOptions(paths)],
    reason: 'outputs_invalid',
    captureBytes: maxOutputBytes,
    initialized,
    network: { state: true, egress: true },
  });
  return captured;
}
