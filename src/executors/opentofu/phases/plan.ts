import { join } from 'node:path';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import { type ResourceChange, summarizePlan } from '#domain/runs/plans/model.ts';
import { scannedChanges } from '#domain/runs/plans/scanned-changes.ts';
import { countSections, hasFailed, type PlanSections } from '#domain/runs/plans/sections.ts';
import { packArtifact } from '../../attempt/artifact.ts';
import type { Attempt, AttemptSuccess } from '../../attempt/attempt.ts';
import type { OpenTofuExecutor } from '../../protocol/request.ts';
import type { WireRequest } from '../../protocol/request-schema.ts';
import { secretDigestOf } from '../../redaction/secret-digest.ts';
import { formatBytes } from '../../shared/bytes.ts';
import { AttemptFailure, messageOf } from '../../shared/errors.ts';
import { resultLimits } from '../../shared/result-limits.ts';
import { withoutEphemeral } from '../ephemeral.ts';
import { notesOn } from '../initialization/guards.ts';
import type { InitCache, Initialization } from '../initialization/init-cache.ts';
import { type InitLease, initialize } from '../initialization/initialize.ts';
import { noModules, packModules, type ResolvedModules } from '../initialization/kept-modules.ts';
import { verifyPlan } from '../plan-file/verify-plan.ts';
import { type ReadPlan, readPlan } from '../plan-json/plan.ts';
import { platform } from '../providers/lock-file.ts';
import { planInput, ToolSession } from '../session.ts';
import type { StateBackend } from '../state/state-backend.ts';
import { readOutputs } from './outputs.ts';
import { declaredFile, ephemeralFile, factsOf, hasNoProviders, parallelismOf, toolLockFile } from './planned.ts';

const { planFileBytes: maxPlanBytes, planJsonBytes: maxPlanJsonBytes } = resultLimits;

/** Makes a plan, or the findings of a scan or refresh. @throws AttemptFailure that says what went wrong */
export async function plan(
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

async function planInitialized(
  session: ToolSession,
  { initialized, lock, withVariables }: InitLease,
): Promise<AttemptSuccess> {
  const { operation, phase } = session.attempt.request;
  const made = await makePlan(session, initialized);
  const read = await showPlan(session, initialized, made.plan);
  await verifyPlan(session, initialized, made.plan);
  const { changes, drift, hasChanges } = read;
  const sections = { ...read.sections, diagnostics: warningsOf(session.attempt, read.sections) };
  const facts = factsOf(session, initialized, { changes, drift, sections });
  const files = new Map([
    ['plan', made.plan],
    ['variables', withoutEphemeral(session.attempt.request.variables, read.ephemeral)],
    [declaredFile, Buffer.from(JSON.stringify(read.declared))],
  ]);
  if (initialized.lock !== null) files.set('lock', initialized.lock);
  if (initialized.toolLock !== null) files.set(toolLockFile, initialized.toolLock);
  if (read.ephemeral.length > 0) files.set(ephemeralFile, Buffer.from(JSON.stringify(read.ephemeral)));
  const packed = packArtifact(facts, files);
  const isRefresh = operation === 'refresh';
  const modules = withVariables ? null : await resolvedModules(session, { ...initialized, lock });
  const shown = {
    changes: shownChanges(session.attempt.request, read),
    sections: phase === 'detect' ? { ...sections, actions: [], deferred: [] } : sections,
  };
  // The plan itself decides. The tool's exit code can only turn "no changes" into "changes", which requires a review.
  const changesSomething = made.code === 2 || hasChanges || (isRefresh && drift.length > 0);
  // An apply or a refresh without changes ends here, and reports its outputs.
  const endsHere = phase === 'plan' && (operation === 'apply' || isRefresh) && !changesSomething;
  const { outputs } = endsHere ? await readOutputs(session, initialized, read.declared) : {};
  return {
    ...(modules && { modules }),
    ...(outputs && { outputs }),
    plan: {
      ...shown,
      drift,
      summary: summarizePlan(shown.changes, countSections(shown.sections)),
      hasChanges: changesSomething,
      assumed: false,
      digest: packed.digest,
      artifact: phase === 'detect' ? Buffer.alloc(0) : packed.artifact,
    },
  };
}

/**
 * The modules and the lock file that later runs of the version will use, if they are not known yet. If they cannot be stored, the plan is
 * still valid.
 */
async function resolvedModules(
  session: ToolSession,
  { data, modules, lock }: Pick<Initialization, 'data' | 'modules' | 'lock'>,
): Promise<KeptModules | null> {
  const { attempt } = session;
  if (attempt.request.phase !== 'plan') return null;
  const known = attempt.modules;
  const packed = known?.content || modules === '' ? null : await packKept(attempt, data, modules);
  const locks = lock === null || known?.locks[platform] !== undefined ? {} : { [platform]: lock.toString() };
  if (packed === null && Object.keys(locks).length === 0) return null;
  if (Object.keys(locks).length > 0 && session.ownLock === null)
    attempt.note('the version has no lock file: the providers found now are trusted, and its later runs get the same');
  return { ...(packed ?? known ?? noModules), locks };
}

function packKept(attempt: Attempt, data: string, modules: string): Promise<ResolvedModules | null> {
  return packModules(data, modules).catch((error: unknown) => {
    attempt.note(`the modules are not kept for later runs: ${messageOf(error)}`);
    return null;
  });
}

/**
 * The warnings of the tool while it prepared and made the plan. A failing `check` block is among the checks of the plan, so its warning is
 * left out.
 */
function warningsOf({ diagnostics }: Attempt, { checks }: Pick<PlanSections, 'checks'>): Diagnostic[] {
  const isShown = checks.some((check) => check.kind === 'check' && hasFailed(check));
  const warnings = diagnostics.list().filter(({ severity }) => severity === 'warning');
  return isShown ? warnings.filter(({ message }) => message !== failedCheck) : warnings;
}

/** The message with which both tools warn of a failing `check` block. */
const failedCheck = 'Check block assertion failed';

/** The changes to show: a refresh records the drift, and a scan compares what it found with what is expected. */
function shownChanges({ phase, operation }: WireRequest, { changes, drift, references }: ReadPlan): ResourceChange[] {
  if (phase === 'detect') return scannedChanges(drift, changes, references);
  return operation === 'refresh' ? drift : changes;
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
