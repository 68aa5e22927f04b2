import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunOperation } from '#domain/runs/model.ts';
import { canonicalJson } from '#domain/shared/canonical.ts';
import { packArtifact, sha256, unpackArtifact } from './artifact.ts';
import type { Attempt, Performed } from './attempt.ts';
import { AttemptFailure, messageOf } from './attempt-error.ts';
import { assumePlan, collectPlanFiles, readCommandPlan, restorePlanFiles } from './command-plan.ts';
import { type Environment, variableEnvironmentName } from './environment.ts';
import type { StepKind, WireRequest, WireStep } from './messages.ts';
import { summarize } from './opentofu-plan.ts';
import { readCommandOutputs } from './outputs.ts';
import { layOutFiles, parseJson, readUntrusted, writePrivate } from './work-files.ts';

type CommandExecutor = Extract<WireRequest['executor'], { kind: 'command' }>;

const largestOutputs = 4 * 1024 * 1024;
const largestState = 64 * 1024 * 1024;
/** A longer value is in the file of variables alone: the system passes no more in one environment variable. */
const longestEnvironmentValue = 64 * 1024;

/** By phase and operation: the steps that are run. A plan of a destruction is never the template's own. */
const stepsOf: Record<WireRequest['phase'], Record<RunOperation, StepKind | null>> = {
  plan: { apply: 'plan', plan: 'plan', destroy: null, refresh: 'detect' },
  apply: { apply: 'apply', plan: null, destroy: 'destroy', refresh: 'detect' },
  detect: { apply: 'detect', plan: 'detect', destroy: 'detect', refresh: 'detect' },
};

/** Carries out a phase of a command template. @throws AttemptFailure saying why it went wrong */
export async function runCommands(attempt: Attempt, executor: CommandExecutor): Promise<Performed> {
  const { phase } = attempt.request;
  refuseUnsupported(attempt.request, executor);
  await layOutWork(attempt, executor);
  return phase === 'apply' ? apply(attempt, executor) : plan(attempt, executor);
}

function refuseUnsupported({ phase, operation }: WireRequest, executor: CommandExecutor): void {
  if (operation === 'destroy' && phase !== 'detect' && !executor.destroy) {
    throw new AttemptFailure('operation_unsupported', 'the template has no "destroy" steps');
  }
  if ((phase === 'detect' || operation === 'refresh') && !executor.detect) {
    throw new AttemptFailure('operation_unsupported', 'the template has no "detect" steps');
  }
  if (phase === 'apply' && operation === 'plan') {
    throw new AttemptFailure('operation_unsupported', 'a plan is not applied');
  }
}

async function layOutWork(attempt: Attempt, executor: CommandExecutor): Promise<void> {
  const { places, request, state } = attempt;
  await layOutFiles(places.work, executor.files ?? {});
  await mkdir(join(places.work, 'plan'), { recursive: true, mode: 0o700 }).catch(() => undefined);
  await writePrivate(join(places.work, 'variables.json'), JSON.stringify(request.variables));
  if (state.content !== null) await writePrivate(join(places.work, 'state.json'), state.content);
}

async function plan(attempt: Attempt, executor: CommandExecutor): Promise<Performed> {
  const { phase, operation } = attempt.request;
  const kind = stepsOf[phase][operation];
  const steps = kind === null ? undefined : executor[kind];
  if (steps) await runSteps(attempt, steps);
  const read = steps ? await readCommandPlan(attempt) : null;
  if (read === null && kind === 'detect') {
    throw new AttemptFailure(
      'plan_missing',
      'the "detect" steps wrote no plan.json: that would be taken for "all as it was"',
    );
  }
  const changes = read ?? assumePlan(attempt, steps !== undefined);
  const facts = {
    kind: 'command' as const,
    tool: null,
    operation,
    sources: digestCommands(executor),
    changes,
    drift: [],
  };
  const { artifact, digest } = packArtifact(facts, await collectPlanFiles(attempt.places.work));
  return {
    plan: {
      ...{ changes, drift: [], summary: summarize(changes), digest, assumed: read === null },
      hasChanges: changes.some(({ action }) => action !== 'no-op' && action !== 'read'),
      artifact: phase === 'detect' ? Buffer.alloc(0) : artifact,
    },
  };
}

async function apply(attempt: Attempt, executor: CommandExecutor): Promise<Performed> {
  const { request, places } = attempt;
  if (attempt.artifact === null) throw new AttemptFailure('artifact_missing', 'there is no plan to apply');
  const { facts, files } = unpackArtifact(attempt.artifact, request.planDigest ?? null);
  if (facts.kind !== 'command' || facts.operation !== request.operation || facts.sources !== digestCommands(executor)) {
    throw new AttemptFailure('artifact_mismatch', 'the plan was made for another operation or of other steps');
  }
  await restorePlanFiles(places.work, files);
  const kind = stepsOf.apply[request.operation];
  try {
    await runSteps(attempt, (kind && executor[kind]) ?? []);
  } finally {
    await keepState(attempt);
  }
  const content = await readWritten(attempt, 'outputs.json', largestOutputs, 'outputs_invalid');
  return { outputs: content === null ? {} : readCommandOutputs(attempt, content) };
}

async function runSteps(attempt: Attempt, steps: readonly WireStep[]): Promise<void> {
  const environment = stepEnvironment(attempt);
  for (const { name, run, env, timeoutMs } of steps) {
    const [program = '', ...args] = run;
    attempt.progress(name);
    attempt.note(`step ${name}`);
    const { work, service } = attempt.places;
    const place = { directory: work, pipeDirectory: service, environment: { ...environment, ...env } };
    const { code } = await attempt.run({ program, arguments: args, ...place, timeoutMs });
    if (code !== 0) throw new AttemptFailure('step_failed', `step "${name}" ended with exit code ${code}`);
  }
}

/** Secrets are in the file alone: an environment is printed too easily. */
function stepEnvironment({ request, places, environment }: Attempt): Environment {
  const { variables, sensitiveVariables } = request;
  const open = Object.entries(variables).filter(([name]) => !sensitiveVariables.includes(name));
  const texts = open.map(([name, value]) => [
    variableEnvironmentName(name),
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const file = (name: string) => join(places.work, name);
  return {
    ...environment,
    ...Object.fromEntries(
      texts.filter(([, text = '']) => text.length <= longestEnvironmentValue && !text.includes('\0')),
    ),
    COORDINATOR_VARIABLES_FILE: file('variables.json'),
    COORDINATOR_OUTPUTS_FILE: file('outputs.json'),
    COORDINATOR_PLAN_FILE: file('plan.json'),
    COORDINATOR_PLAN_DIRECTORY: file('plan'),
    COORDINATOR_STATE_FILE: file('state.json'),
    COORDINATOR_PHASE: request.phase,
    COORDINATOR_OPERATION: request.operation,
    COORDINATOR_RUN_ID: request.runId,
  };
}

/** Also after a step that failed or was stopped: what it remembered then is what it needs to go on from. */
async function keepState(attempt: Attempt): Promise<void> {
  if (attempt.request.operation === 'refresh') return;
  const content = await readWritten(attempt, 'state.json', largestState, 'state_invalid');
  // Steps that removed it have nothing to remember any more.
  const forgotten = attempt.state.content === null ? null : Buffer.from('{}');
  const next = content ?? forgotten;
  if (next !== null) await attempt.state.replaceContent(next);
}

async function readWritten(
  { places }: Attempt,
  name: string,
  maximum: number,
  reason: 'outputs_invalid' | 'state_invalid',
): Promise<Buffer | null> {
  try {
    const content = await readUntrusted(join(places.work, name), maximum);
    if (content !== null) parseJson(content);
    return content;
  } catch (error) {
    throw new AttemptFailure(reason, `${name} cannot be read: ${messageOf(error)}`);
  }
}

function digestCommands({ files = {}, plan, apply, destroy, detect }: CommandExecutor): string {
  return sha256(canonicalJson({ files, plan, apply, destroy, detect }));
}
