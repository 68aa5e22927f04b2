import { join } from 'node:path';
import { isEffective, summarizePlan } from '#domain/runs/plans/model.ts';
import { noSections } from '#domain/runs/plans/sections.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import { packArtifact, sha256, unpackArtifact } from '../attempt/artifact.ts';
import type { Attempt, AttemptSuccess, JobResult, JobStep, Results } from '../attempt/attempt.ts';
import { checkName, variableEnvironmentName } from '../attempt/environment.ts';
import { type JobFile, toWorkFiles } from '../attempt/work-files.ts';
import type { StepKind, WireRequest, WireStep } from '../protocol/request-schema.ts';
import type { JobPaths } from '../sandbox/job-paths.ts';
import type { Environment } from '../shared/environment.ts';
import { AttemptFailure, messageOf } from '../shared/errors.ts';
import { parseJson } from '../shared/json.ts';
import { findMissingProgram, lastLine, missingProgramCodes } from '../shared/missing-program.ts';
import { resultLimits } from '../shared/result-limits.ts';
import { readCommandOutputs } from './command-outputs.ts';
import { assumePlan, collectPlanFiles, planFile, readCommandPlan } from './command-plan.ts';

type CommandExecutor = Extract<WireRequest['executor'], { kind: 'command' }>;

/** How many of the last lines of standard error a failed step shows. */
const maxDetailLines = 10;
const noFiles: ReadonlyMap<string, Buffer> = new Map();

/** The steps to run, by phase and operation. Steps never plan a destroy. */
const stepsOf: Record<WireRequest['phase'], Record<RunOperation, StepKind | null>> = {
  plan: { apply: 'plan', plan: 'plan', destroy: null, refresh: 'detect', scan: null },
  apply: { apply: 'apply', plan: null, destroy: 'destroy', refresh: 'detect', scan: null },
  detect: { apply: 'detect', plan: 'detect', destroy: 'detect', refresh: 'detect', scan: 'detect' },
};

/** Runs a phase of a command template. @throws AttemptFailure that says what went wrong */
export async function runCommands(attempt: Attempt, executor: CommandExecutor): Promise<AttemptSuccess> {
  const { phase } = attempt.request;
  refuseUnsupported(attempt.request, executor);
  // Checked even without steps to run, because a plan must not be approved if its files cannot be written.
  toWorkFiles(executor.files ?? {});
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
    throw new AttemptFailure('operation_unsupported', 'a run of the operation "plan" has nothing to apply');
  }
}

/** The template's files, and the variables and state for its steps. */
function layOutWork({ request, state }: Attempt, executor: CommandExecutor): Map<string, JobFile> {
  const files = toWorkFiles(executor.files ?? {});
  const variables = Buffer.from(JSON.stringify(request.variables));
  files.set('work/variables.json', variables);
  if (state.content !== null) files.set('work/state.json', state.content);
  return files;
}

async function plan(attempt: Attempt, executor: CommandExecutor): Promise<AttemptSuccess> {
  const { phase, operation } = attempt.request;
  const kind = stepsOf[phase][operation];
  const steps = kind === null ? undefined : executor[kind];
  const files = steps ? await runSteps(attempt, executor, steps, { collect: collectPlanFiles }) : noFiles;
  const read = readCommandPlan(attempt, files.get(planFile) ?? null);
  if (read === null && kind === 'detect') {
    throw new AttemptFailure(
      'plan_missing',
      'the "detect" steps wrote no plan.json, so it is unknown whether anything changed',
    );
  }
  const changes = read ?? assumePlan(attempt, steps !== undefined);
  const facts = {
    kind: 'command' as const,
    tool: null,
    operation,
    sources: digestCommands(executor),
    modules: '',
    changes,
    drift: [],
    sections: noSections,
  };
  const { artifact, digest } = packArtifact(facts, files);
  return {
    plan: {
      changes,
      drift: [],
      sections: noSections,
      summary: summarizePlan(changes),
      digest,
      assumed: read === null,
      hasChanges: changes.some(({ action }) => isEffective(action)),
      artifact: phase === 'detect' ? Buffer.alloc(0) : artifact,
    },
  };
}

async function apply(attempt: Attempt, executor: CommandExecutor): Promise<AttemptSuccess> {
  const { request } = attempt;
  if (attempt.artifact === null) throw new AttemptFailure('artifact_missing', 'there is no plan to apply');
  const { facts, files } = unpackArtifact(attempt.artifact, request.planDigest ?? null);
  if (facts.kind !== 'command' || facts.operation !== request.operation || facts.sources !== digestCommands(executor)) {
    throw new AttemptFailure('artifact_mismatch', 'the plan was made for another operation or from other steps');
  }
  const kind = stepsOf.apply[request.operation];
  const steps = (kind && executor[kind]) ?? [];
  const results = await runSteps(attempt, executor, steps, { planned: files, collect: collectApply(attempt) });
  return { outputs: results.outputs === null ? {} : readCommandOutputs(attempt, results.outputs) };
}

interface ApplyResults {
  readonly outputs: Buffer | null;
}

/** Returns the state even if a step failed or was stopped, because the next attempt continues from it. */
function collectApply(attempt: Attempt) {
  return async (results: Results, work: string, code: number): Promise<ApplyResults> => {
    if (attempt.request.operation !== 'refresh') await keepState(attempt, results, work);
    if (code !== 0) return { outputs: null };
    return { outputs: await readWritten(results, work, 'outputs.json', resultLimits.outputsBytes, 'outputs_invalid') };
  };
}

/** Runs steps one after the other in one sandbox. @throws AttemptFailure if one fails */
async function runSteps<Collected>(
  attempt: Attempt,
  executor: CommandExecutor,
  steps: readonly WireStep[],
  options: {
    readonly planned?: ReadonlyMap<string, Buffer>;
    readonly collect: (results: Results, work: string, code: number) => Promise<Collected>;
  },
): Promise<Collected> {
  const planned = [...(options.planned ?? noFiles)].map(([path, content]) => [`work/${path}`, content] as const);
  const isReached = attempt.request.egress.policy !== 'none';
  if (isReached) await attempt.openRelay(null);
  const result = await attempt.runJob((paths) => ({
    steps: steps.map(toJobStep),
    files: new Map([...layOutWork(attempt, executor), ...planned, ['work/plan/', Buffer.alloc(0)]]),
    environment: () => stepEnvironment(attempt, paths),
    network: { state: false, egress: isReached },
    wantsPipes: true,
    collect: (results, code) => options.collect(results, paths.work, code),
  }));
  if (result.code !== 0) {
    if (!isReached) attempt.note('[programs of this pool cannot reach the network: its egress policy is "none"]');
    throw stepFailed(attempt, steps, result);
  }
  if (result.collected === undefined)
    throw new AttemptFailure('step_failed', 'the steps ended before their results could be read');
  return result.collected;
}

function toJobStep({ name, run: [program = '', ...given], env, timeoutMs }: WireStep): JobStep {
  refuseNul(name, [program, ...given, ...Object.values(env ?? {})]);
  const environment = env && Object.fromEntries(Object.entries(env).map(([key, value]) => [checkName(key), value]));
  return {
    title: name,
    note: `step ${name}`,
    program,
    arguments: given,
    timeoutMs,
    ...(environment && { environment }),
  };
}

function refuseNul(step: string, texts: readonly string[]): void {
  if (!texts.some((text) => text.includes('\0'))) return;
  throw new AttemptFailure('step_not_started', `step "${step}" has a NUL character in an argument or variable`);
}

/** Reports the step and its exit code, with what it printed last on standard error. */
function stepFailed(attempt: Attempt, steps: readonly WireStep[], { steps: ended, code }: JobResult<unknown>) {
  const name = steps[ended - 1]?.name ?? steps[0]?.name ?? '';
  const ending = `step "${name}" ended with exit code ${code}`;
  const printed = attempt.lastErrors().trim();
  const last = lastLine(printed);
  const program = missingProgramCodes.includes(code) ? findMissingProgram(last) : null;
  attempt.diagnostics.add({
    severity: 'error',
    message: last === '' ? ending : `${ending}: ${last}`,
    ...(printed !== last && { detail: printed.split('\n').slice(-maxDetailLines).join('\n') }),
    ...(program !== null && { program }),
  });
  return new AttemptFailure('step_failed', ending);
}

/** Leaves secrets out. They are only in the variables file, because programs easily print their environment. */
function stepEnvironment({ request }: Attempt, paths: JobPaths): Environment {
  const { variables, sensitiveVariables } = request;
  const open = Object.entries(variables).filter(([name]) => !sensitiveVariables.includes(name));
  const texts = open.map(([name, value]) => [
    variableEnvironmentName(name),
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const file = (name: string) => join(paths.work, name);
  return {
    ...Object.fromEntries(
      texts.filter(([, text = '']) => text.length <= resultLimits.environmentValueLength && !text.includes('\0')),
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

async function keepState(attempt: Attempt, results: Results, work: string): Promise<void> {
  const content = await readWritten(results, work, 'state.json', resultLimits.commandStateBytes, 'state_invalid');
  // If the steps removed the file, the state becomes empty.
  const forgotten = attempt.state.content === null ? null : Buffer.from('{}');
  const next = content ?? forgotten;
  if (next !== null) await attempt.state.saveIfChanged(next);
}

async function readWritten(
  results: Results,
  work: string,
  name: string,
  maximum: number,
  reason: 'outputs_invalid' | 'state_invalid',
): Promise<Buffer | null> {
  try {
    const content = await results.read(join(work, name), maximum);
    if (content !== null) parseJson(content, { refusesRepeatedKeys: true });
    return content;
  } catch (error) {
    throw new AttemptFailure(reason, `${name} cannot be read: ${messageOf(error)}`);
  }
}

function digestCommands({ files = {}, plan, apply, destroy, detect }: CommandExecutor): string {
  return sha256(canonicalJson({ files, plan, apply, destroy, detect }));
}
