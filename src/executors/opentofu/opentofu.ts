import { join } from 'node:path';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import { findUnknownOption } from '#domain/runs/options/model.ts';
import { type ResourceChange, summarizePlan } from '#domain/runs/plans/model.ts';
import { scannedChanges } from '#domain/runs/plans/scanned-changes.ts';
import { countSections } from '#domain/runs/plans/sections.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { type PlanFacts, packArtifact, unpackArtifact } from '../attempt/artifact.ts';
import type { Attempt, AttemptSuccess } from '../attempt/attempt.ts';
import type { WireRequest } from '../protocol/messages.ts';
import type { OpenTofuExecutor } from '../protocol/request.ts';
import { secretDigestOf } from '../redaction/secret-digest.ts';
import { formatBytes } from '../shared/bytes.ts';
import { AttemptFailure, messageOf } from '../shared/errors.ts';
import { isObject, parseJson } from '../shared/json.ts';
import { resultLimits } from '../shared/result-limits.ts';
import { digestSources } from './configuration.ts';
import { mayHaveProvisioners } from './configuration-scan.ts';
import { joinVariables, onlyEphemeral, readNames, withoutEphemeral } from './ephemeral.ts';
import { notesOn } from './guards.ts';
import type { InitCache, Initialization } from './init-cache.ts';
import { type InitLease, initialize } from './initialize.ts';
import { packModules } from './kept-modules.ts';
import { readTofuOutputs } from './outputs.ts';
import { type ReadPlan, readPlan } from './plan.ts';
import { planInput, ToolSession } from './session.ts';
import { StateBackend } from './state-backend.ts';
import { TofuState } from './tofu-state.ts';
import { verifyPlan } from './verify-plan.ts';

/** What the artifact calls the outputs that the configuration declares. */
const declaredFile = 'outputs';
/** And the names of the variables whose values are given again at the apply. */
const ephemeralFile = 'ephemeral';
const ephemeralInput = 'ephemeral.tfvars.json';
const noVariables = Buffer.from('{}');
const { planFileBytes: maxPlanBytes, planJsonBytes: maxPlanJsonBytes } = resultLimits;

/** Runs a phase with OpenTofu or Terraform. @throws AttemptFailure that says what went wrong */
export async function runOpenTofu(
  attempt: Attempt,
  executor: OpenTofuExecutor,
  cache: InitCache,
): Promise<AttemptSuccess> {
  refuseUnknownOptions(attempt.request);
  learnRemoteStates(attempt);
  const state = new TofuState(attempt.state, attempt.redactor);
  state.open();
  const isApply = attempt.request.phase === 'apply';
  const backend = new StateBackend(state, { isReadOnly: !isApply });
  const success = await (isApply ? apply : plan)(attempt, executor, backend, cache);
  const { tool } = attempt.request;
  return { ...success, ...(tool && { tool }) };
}

/** Redacts the secrets among the outputs of other instances, before any program sees them. */
function learnRemoteStates({ request, redactor }: Attempt): void {
  for (const content of Object.values(request.remoteStates ?? {})) {
    const state = parseJson(Buffer.from(content));
    const outputs = isObject(state) ? state['outputs'] : undefined;
    for (const output of isObject(outputs) ? Object.values(outputs) : [])
      if (isObject(output) && output['sensitive'] === true) redactor.learn(output['value'] ?? null);
  }
}

async function plan(
  attempt: Attempt,
  executor: OpenTofuExecutor,
  backend: StateBackend,
  cache: InitCache,
): Promise<AttemptSuccess> {
  const { request } = attempt;
  const session = new ToolSession(attempt, executor, backend, Buffer.from(JSON.stringify(request.variables)));
  if (request.phase === 'plan')
    for (const line of notesOn(executor, session.tool.name, Object.keys(request.remoteStates ?? {})))
      attempt.note(line);
  const lease = await initialize(session, cache);
  try {
    return await planInitialized(session, lease);
  } finally {
    lease.release();
  }
}

async function planInitialized(session: ToolSession, { initialized }: InitLease): Promise<AttemptSuccess> {
  const { operation, phase } = session.attempt.request;
  const made = await makePlan(session, initialized);
  const read = await showPlan(session, initialized, made.plan);
  await verifyPlan(session, initialized, made.plan);
  const { changes, drift, hasChanges } = read;
  const sections = { ...read.sections, diagnostics: warningsOf(session.attempt) };
  const facts = factsOf(session, initialized, { changes, drift, sections });
  const files = new Map([
    ['plan', made.plan],
    ['variables', withoutEphemeral(session.attempt.request.variables, read.ephemeral)],
    [declaredFile, Buffer.from(JSON.stringify(read.declared))],
  ]);
  if (initialized.lock !== null) files.set('lock', initialized.lock);
  if (read.ephemeral.length > 0) files.set(ephemeralFile, Buffer.from(JSON.stringify(read.ephemeral)));
  const packed = packArtifact(facts, files);
  const isRefresh = operation === 'refresh';
  const modules = await resolvedModules(session, initialized);
  const shown = {
    changes: shownChanges(session.attempt.request, read),
    sections: phase === 'detect' ? { ...sections, actions: [], deferred: [] } : sections,
  };
  return {
    ...(modules && { modules }),
    plan: {
      ...shown,
      drift,
      summary: summarizePlan(shown.changes, countSections(shown.sections)),
      // The plan itself decides. The tool's exit code can only add a review.
      hasChanges: made.code === 2 || hasChanges || (isRefresh && drift.length > 0),
      assumed: false,
      digest: packed.digest,
      artifact: phase === 'detect' ? Buffer.alloc(0) : packed.artifact,
    },
  };
}

/** What a version is to use from now on, if it is not known yet. That it cannot be kept is no fault of the plan. */
async function resolvedModules(
  { attempt }: ToolSession,
  { data, modules }: Initialization,
): Promise<KeptModules | null> {
  if (attempt.request.phase !== 'plan' || attempt.modules !== null || modules === '') return null;
  return packModules(data, modules).catch((error: unknown) => {
    attempt.note(`the modules are not kept for later runs: ${messageOf(error)}`);
    return null;
  });
}

/** What the tool warned of, while it prepared the plan and made it. */
function warningsOf({ diagnostics }: Attempt): Diagnostic[] {
  return diagnostics.list().filter(({ severity }) => severity === 'warning');
}

/** What people are shown: a refresh records the drift, and a scan compares what was found with what is expected. */
function shownChanges({ phase, operation }: WireRequest, { changes, drift }: ReadPlan): ResourceChange[] {
  if (phase === 'detect') return scannedChanges(drift, changes);
  return operation === 'refresh' ? drift : changes;
}

function factsOf(
  { executor, tool, attempt }: ToolSession,
  { modules }: Initialization,
  { changes, drift, sections }: Pick<PlanFacts, 'changes' | 'drift' | 'sections'>,
): PlanFacts {
  const { operation } = attempt.request;
  const shown = { changes, drift, ...(sections && { sections }) };
  return { kind: 'opentofu', tool, operation, sources: digestSources(executor), modules, ...shown };
}

/** Runs `plan`, in a sandbox that also runs the template's code. */
async function makePlan(session: ToolSession, initialized: Initialization): Promise<{ plan: Buffer; code: number }> {
  const { code, collected = null } = await session.call({
    subcommand: 'plan',
    options: (paths) => [
      '-input=false',
      '-no-color',
      '-lock=false',
      '-detailed-exitcode',
      `-out=${session.planPath(paths)}`,
      session.variablesOption(paths),
      ...planModes(session.attempt),
      ...parallelismOf(session.attempt),
    ],
    reason: 'plan_failed',
    expected: [0, 2],
    initialized,
    network: { state: true, egress: true },
    relaxedGc: hasNoProviders(initialized),
    collect: (results, paths) =>
      results.read(session.planPath(paths), maxPlanBytes).catch((error: unknown) => {
        throw new AttemptFailure('plan_invalid', `the plan file cannot be stored: ${messageOf(error)}`);
      }),
  });
  if (collected === null) throw new AttemptFailure('plan_missing', 'the tool wrote no plan file');
  return { plan: collected, code };
}

/** Without a lock file, the tool runs no providers but its built-in one. */
function hasNoProviders({ lock }: Initialization): boolean {
  return lock === null;
}

function planModes({ request: { operation, replace, options = {} } }: Attempt): string[] {
  const { target = [], exclude = [], refresh = true } = options;
  const modes: Partial<Record<typeof operation, string[]>> = { destroy: ['-destroy'], refresh: ['-refresh-only'] };
  return [
    ...(modes[operation] ?? []),
    ...replace.map((address) => `-replace=${address}`),
    ...target.map((address) => `-target=${address}`),
    ...exclude.map((address) => `-exclude=${address}`),
    ...(refresh ? [] : ['-refresh=false']),
  ];
}

function parallelismOf({ request: { options = {} } }: Attempt): string[] {
  return options.parallelism === undefined ? [] : [`-parallelism=${options.parallelism}`];
}

/** The tool itself would report an option that it does not know as a problem of the command line, with its whole help. */
function refuseUnknownOptions({ tool, options }: WireRequest): void {
  const problem = tool && options ? findUnknownOption(options, tool) : null;
  if (problem !== null) throw new AttemptFailure('operation_unsupported', problem);
}

/**
 * Reads a plan as reviewers will see it. The tool shows it in a sandbox that contains only the plan and the providers and
 * reaches nothing. A plan that the template encrypts cannot be read; the service seals plans itself.
 */
async function showPlan(session: ToolSession, initialized: Initialization, plan: Buffer): Promise<ReadPlan> {
  const { attempt } = session;
  const shown = await session.call({
    subcommand: 'show',
    options: (paths) => ['-json', '-no-color', join(paths.input, planInput)],
    reason: 'plan_invalid',
    seesTemplate: false,
    captureBytes: maxPlanJsonBytes,
    initialized,
    extraFiles: new Map([[planInput, plan]]),
    network: { state: false, egress: false },
    relaxedGc: hasNoProviders(initialized),
  });
  if (shown.isTruncated)
    throw new AttemptFailure(
      'plan_invalid',
      `the plan as JSON is longer than ${formatBytes(maxPlanJsonBytes)}, the most that reviewers can be shown`,
    );
  const { secretsKey, outputs } = attempt.request;
  return readPlan(shown.captured, {
    redactor: attempt.redactor,
    digest: secretDigestOf(secretsKey),
    secretOutputs: new Set(Object.keys(outputs).filter((name) => outputs[name]?.sensitive === true)),
  });
}

async function apply(
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
    captureBytes: maxPlanJsonBytes,
    initialized,
    network: { state: true, egress: true },
  });
  return captured;
}
