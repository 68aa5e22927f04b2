import { join } from 'node:path';
import type { JsonValue } from '#domain/runs/model.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { type PlanFacts, packArtifact, unpackArtifact } from '../attempt/artifact.ts';
import type { Attempt, Performed } from '../attempt/attempt.ts';
import { AttemptFailure, messageOf } from '../attempt/attempt-error.ts';
import { readTofuOutputs } from '../attempt/outputs.ts';
import { parseJson } from '../attempt/work-files.ts';
import type { OpenTofuExecutor } from '../protocol/request.ts';
import { mayHaveProvisioners } from './early-variables.ts';
import { digestSources } from './files.ts';
import type { Initialization, Initializations } from './initializations.ts';
import { type Held, initialize } from './initialize.ts';
import { type ReadPlan, readPlan, summarize } from './plan.ts';
import { planInput, ToolSession } from './session.ts';
import { StateBackend } from './state-backend.ts';
import { isObject } from './state-document.ts';

const largestPlan = 256 * 1024 * 1024;
const largestPlanJson = 128 * 1024 * 1024;

/** Carries out a phase with OpenTofu, or Terraform. @throws AttemptFailure saying why it went wrong */
export async function runOpenTofu(
  attempt: Attempt,
  executor: OpenTofuExecutor,
  kept: Initializations,
): Promise<Performed> {
  attempt.state.openDocument();
  const isApply = attempt.request.phase === 'apply';
  const backend = new StateBackend(attempt.state, { isReadOnly: !isApply });
  const performed = await (isApply ? apply : plan)(attempt, executor, backend, kept);
  const { tool } = attempt.request;
  return { ...performed, ...(tool && { tool }) };
}

async function plan(
  attempt: Attempt,
  executor: OpenTofuExecutor,
  backend: StateBackend,
  kept: Initializations,
): Promise<Performed> {
  const { request } = attempt;
  const session = new ToolSession(attempt, executor, backend, Buffer.from(JSON.stringify(request.variables)));
  const held = await initialize(session, kept);
  try {
    return await planInitialized(session, held);
  } finally {
    held.release();
  }
}

async function planInitialized(session: ToolSession, { initialized }: Held): Promise<Performed> {
  const { operation, phase } = session.attempt.request;
  const made = await makePlan(session, initialized);
  const { changes, drift, summary, hasChanges } = await showPlan(session, initialized, made.plan);
  const facts = factsOf(session, initialized, { changes, drift });
  const files = new Map([
    ['plan', made.plan],
    ['variables', session.variables],
  ]);
  if (initialized.lock !== null) files.set('lock', initialized.lock);
  const packed = packArtifact(facts, files);
  const isRefresh = operation === 'refresh';
  return {
    plan: {
      ...{ changes: isRefresh ? drift : changes, drift, summary: isRefresh ? summarize(drift) : summary },
      // The plan itself decides; what the tool's exit code adds can only make people look.
      hasChanges: made.code === 2 || hasChanges || (isRefresh && drift.length > 0),
      assumed: false,
      digest: packed.digest,
      artifact: phase === 'detect' ? Buffer.alloc(0) : packed.artifact,
    },
  };
}

function factsOf(
  { executor, tool, attempt }: ToolSession,
  { modules }: Initialization,
  { changes, drift }: Pick<PlanFacts, 'changes' | 'drift'>,
): PlanFacts {
  const { operation } = attempt.request;
  return { kind: 'opentofu', tool, operation, sources: digestSources(executor), modules, changes, drift };
}

/** Plans, beside whatever code the template has. */
async function makePlan(session: ToolSession, initialized: Initialization): Promise<{ plan: Buffer; code: number }> {
  const { code, collected = null } = await session.call({
    subcommand: 'plan',
    options: (places) => [
      ...['-input=false', '-no-color', '-lock=false', '-detailed-exitcode'],
      ...[`-out=${session.planPath(places)}`, session.variablesOption(places)],
      ...planModes(session.attempt),
    ],
    reason: 'plan_failed',
    expected: [0, 2],
    initialized,
    reaches: { state: true, egress: true },
    isUnhurried: runsAlone(initialized),
    collect: (results, places) =>
      results.read(session.planPath(places), largestPlan).catch((error: unknown) => {
        throw new AttemptFailure('plan_invalid', `the plan file cannot be kept: ${messageOf(error)}`);
      }),
  });
  if (collected === null) throw new AttemptFailure('plan_missing', 'the tool left no plan file');
  return { plan: collected, code };
}

/** Without a lock file there are no providers but the tool's own. */
function runsAlone({ lock }: Initialization): boolean {
  return lock === null;
}

function planModes({ request: { operation, replace } }: Attempt): string[] {
  const modes: Partial<Record<typeof operation, string[]>> = { destroy: ['-destroy'], refresh: ['-refresh-only'] };
  return [...(modes[operation] ?? []), ...replace.map((address) => `-replace=${address}`)];
}

/**
 * Reads a plan as reviewers will see it: by the tool, in a sandbox that has nothing of the template but the plan and the
 * providers, and reaches nothing. A plan that the template encrypts cannot be read so: the service seals plans itself.
 */
async function showPlan(session: ToolSession, initialized: Initialization, plan: Buffer): Promise<ReadPlan> {
  const { attempt } = session;
  const shown = await session.call({
    subcommand: 'show',
    options: (places) => ['-json', '-no-color', join(places.input, planInput)],
    reason: 'plan_invalid',
    seesTemplate: false,
    captureBytes: largestPlanJson,
    initialized,
    extraFiles: new Map([[planInput, plan]]),
    reaches: { state: false, egress: false },
    isUnhurried: runsAlone(initialized),
  });
  if (shown.isTruncated) throw new AttemptFailure('plan_invalid', `the plan has more than ${largestPlanJson} bytes`);
  return readPlan(shown.captured, attempt.redactor);
}

async function apply(
  attempt: Attempt,
  executor: OpenTofuExecutor,
  backend: StateBackend,
  kept: Initializations,
): Promise<Performed> {
  if (attempt.artifact === null) throw new AttemptFailure('artifact_missing', 'there is no plan to apply');
  const { facts, files } = unpackArtifact(attempt.artifact, attempt.request.planDigest ?? null);
  const session = new ToolSession(attempt, executor, backend, files.get('variables') ?? Buffer.from('{}'));
  learnVariables(attempt, session.variables);
  refuseOtherPlan(session, facts);
  const held = await initialize(session, kept, files.get('lock') ?? null);
  try {
    if (facts.modules !== held.initialized.modules) throw mismatch('of other modules');
    await applyPlan(session, held.initialized, files.get('plan') ?? Buffer.alloc(0));
    return await readTofuOutputs(attempt, () => askOutputs(session, held.initialized));
  } finally {
    held.release();
  }
}

function refuseOtherPlan(session: ToolSession, facts: PlanFacts): void {
  const wanted = factsOf(session, { data: '', lock: null, modules: facts.modules }, facts);
  if (canonicalJson(wanted) !== canonicalJson(facts)) {
    throw mismatch('by another tool, for another operation or of other files');
  }
}

function mismatch(how: string): AttemptFailure {
  return new AttemptFailure('artifact_mismatch', `the plan was made ${how}`);
}

/** The plan's variables are those of the run; whoever changed them is not told by the log. */
function learnVariables({ request, redactor }: Attempt, variables: Buffer): void {
  const parsed = parseJson(variables) as JsonValue;
  if (!isObject(parsed)) return;
  for (const name of request.sensitiveVariables) redactor.learn(parsed[name] ?? null);
}

async function applyPlan(session: ToolSession, initialized: Initialization, plan: Buffer): Promise<void> {
  await session.call({
    subcommand: 'apply',
    options: (places) => [
      ...['-input=false', '-no-color', '-lock-timeout=30s', ...session.earlyVariables(places)],
      join(places.input, planInput),
    ],
    reason: 'apply_failed',
    initialized,
    extraFiles: new Map([[planInput, plan]]),
    reaches: { state: true, egress: true },
    // Programs of the template inherit the tool's environment, and collect their garbage as they like.
    isUnhurried: runsAlone(initialized) && initialized.modules === '' && !mayHaveProvisioners(session.executor.files),
  });
}

/** For a state that the template encrypts: only the tool can read it. */
async function askOutputs(session: ToolSession, initialized: Initialization): Promise<Buffer> {
  const { captured } = await session.call({
    subcommand: 'output',
    options: (places) => ['-json', '-no-color', ...session.earlyVariables(places)],
    reason: 'outputs_invalid',
    captureBytes: largestPlanJson,
    initialized,
    reaches: { state: true, egress: true },
  });
  return captured;
}
