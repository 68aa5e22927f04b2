import { join } from 'node:path';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { type PlanFacts, unpackArtifact } from '../../attempt/artifact.ts';
import type { Attempt, AttemptSuccess } from '../../attempt/attempt.ts';
import type { OpenTofuExecutor } from '../../protocol/request.ts';
import { AttemptFailure } from '../../shared/errors.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { joinVariables, onlyEphemeral, readNames } from '../ephemeral.ts';
import { digestModulesAsBefore } from '../initialization/configuration.ts';
import { mayHaveProvisioners } from '../initialization/configuration-scan.ts';
import type { InitCache, Initialization } from '../initialization/init-cache.ts';
import { initialize } from '../initialization/initialize.ts';
import { verifyPlan } from '../plan-file/verify-plan.ts';
import { planInput, ToolSession } from '../session.ts';
import type { StateBackend } from '../state/state-backend.ts';
import { readOutputs } from './outputs.ts';
import { declaredFile, ephemeralFile, factsOf, hasNoProviders, parallelismOf, toolLockFile } from './planned.ts';

const ephemeralInput = 'ephemeral.tfvars.json';
const noVariables = Buffer.from('{}');

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
  const initialized = { ...lease.initialized, toolLock: files.get(toolLockFile) ?? files.get('lock') ?? null };
  try {
    await refuseOtherModules(facts.modules, initialized);
    const planned = files.get('plan') ?? Buffer.alloc(0);
    await verifyPlan(session, initialized, planned);
    await applyPlan(session, initialized, { plan: planned, ephemeral });
    // Plans of earlier releases that still wait do not have the list of declared outputs.
    const declared = files.get(declaredFile);
    return await readOutputs(session, initialized, declared === undefined ? {} : parseJson(declared));
  } finally {
    lease.release();
  }
}

function refuseOtherPlan(session: ToolSession, facts: PlanFacts): void {
  const wanted = factsOf(session, facts, facts);
  if (canonicalJson(wanted) !== canonicalJson(facts)) {
    throw mismatch('by another tool, for another operation or from other files');
  }
}

/**
 * Refuses modules that differ from those of the plan. Waiting plans of earlier releases have the digest that left out the targets of links.
 */
async function refuseOtherModules(planned: string, { data, modules }: Initialization): Promise<void> {
  if (planned === modules || planned === (await digestModulesAsBefore(data))) return;
  throw mismatch('with other modules');
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
