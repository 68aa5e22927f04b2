import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptModules } from '#domain/registry/kept-modules/model.ts';
import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import type { ExecutionReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { Attempt, AttemptSuccess, ModuleAccess } from '../attempt/attempt.ts';
import { DiagnosticList } from '../attempt/diagnostic-list.ts';
import type { OpenTofuExecutor } from '../protocol/request.ts';
import type { CheckReport } from '../protocol/result-schema.ts';
import { maxCheckItems } from '../protocol/result-schema.ts';
import { AttemptFailure, messageOf } from '../shared/errors.ts';
import { TemplateComments } from './diagnostics/template-comments.ts';
import { digestModules, lockFile } from './initialization/configuration.ts';
import { needsVariablesAtInit } from './initialization/configuration-scan.ts';
import type { InitCache, Initialization } from './initialization/init-cache.ts';
import { noModules, packModules, type ResolvedModules, removeGitDirectories } from './initialization/kept-modules.ts';
import { platform, withoutChecksums } from './providers/lock-file.ts';
import { reachOf } from './providers/reach.ts';
import { settleProviders, stockProviders } from './providers/stock.ts';
import { ToolSession } from './session.ts';
import { StateBackend } from './state/state-backend.ts';
import { TofuState } from './state/tofu-state.ts';
import { readValidation } from './validation.ts';

const maxLockBytes = 1024 * 1024;
const maxValidationBytes = 8 * 1024 * 1024;

/** The reasons for which a run would be refused before the tool starts. A check reports them as findings. */
const refusals: readonly ExecutionReason[] = ['no_configuration', 'backend_forbidden', 'files_invalid'];

/**
 * Checks a configuration with the tool: `init` without a backend, and `validate`. Nothing is planned. `validate` starts the providers, so
 * it gets neither a network nor the variables of the environment.
 * @throws AttemptFailure if the check itself could not be made
 */
export async function checkOpenTofu(
  attempt: Attempt,
  executor: OpenTofuExecutor,
  cache: InitCache,
): Promise<AttemptSuccess> {
  const { tool } = attempt.request;
  const { check, modules } = await checkConfiguration(attempt, executor, cache).catch((error: unknown): Checked => {
    if (!(error instanceof AttemptFailure) || !refusals.includes(error.reason)) throw error;
    const findings = [{ severity: 'error', message: error.message } as const];
    return { check: { findings, unchecked: [], missingPrograms: [] }, modules: null };
  });
  return { check, ...(tool && { tool }), ...(modules && { modules }) };
}

interface Checked {
  readonly check: CheckReport;
  /** The exact modules from elsewhere, and the lock file; null if there are none, or if some could not be fetched. */
  readonly modules: KeptModules | null;
}

async function checkConfiguration(attempt: Attempt, executor: OpenTofuExecutor, cache: InitCache): Promise<Checked> {
  const backend = new StateBackend(
    new TofuState(attempt.state, { redactor: attempt.redactor, declared: attempt.request.outputs }),
    { isReadOnly: true },
  );
  const session = new ToolSession(attempt, executor, backend, Buffer.from('{}'));
  const { initialized, problems, modules, notKept } = await fetch(session, cache);
  const { captured, isTruncated } = await session.call({
    subcommand: 'validate',
    options: () => ['-json', '-no-color'],
    reason: 'plan_failed',
    expected: [0, 1],
    captureBytes: maxValidationBytes,
    initialized,
    seesVariables: false,
    network: { state: false, egress: false },
  });
  if (isTruncated)
    throw new AttemptFailure('plan_failed', 'the tool said more about the configuration than can be read');
  const { findings, unchecked } = readValidation(captured, problems, executor.directory ?? '');
  const list = new DiagnosticList(attempt.redactor);
  const comments = new TemplateComments(executor.files);
  for (const finding of findings) list.add(comments.explain(finding));
  const check = {
    findings: list.list(),
    unchecked: [...unchecked, ...notKept].slice(0, maxCheckItems).map((text) => attempt.redactor.redactText(text)),
    missingPrograms: [],
  };
  return { check, modules };
}

interface Fetched {
  readonly initialized: Initialization;
  readonly problems: readonly Diagnostic[];
  readonly modules: KeptModules | null;
  /** Why the modules are not stored, although all could be fetched. */
  readonly notKept: readonly string[];
}

/** Fetches modules and providers into a directory of the attempt. Those that cannot be fetched are reported as problems. */
async function fetch(session: ToolSession, cache: InitCache): Promise<Fetched> {
  const { attempt } = session;
  const data = join(attempt.directory, 'checked');
  await mkdir(data, { mode: 0o700 });
  const access = await session.openModules();
  const { lock, isComplete } = await runInit(session, cache, data, access).finally(() => access.close());
  const initialized = { data, lock, toolLock: lock && withoutChecksums(lock), modules: '' };
  const problems = attempt.diagnostics.list();
  // In OpenTofu, variables may choose modules, and only a run has their values.
  const isFixed = session.tool.name !== 'opentofu' || !needsVariablesAtInit(session.executor.files);
  if (!isComplete || !isFixed) return { initialized, problems, modules: null, notKept: [] };
  const { modules, notKept } = await resolvedModules(data);
  if (lock === null) return { initialized, problems, modules: modules && { ...modules, locks: {} }, notKept };
  const isTrusted = session.ownLock !== null;
  return {
    initialized,
    problems,
    modules: { ...(modules ?? noModules), locks: { [platform]: lock.toString() } },
    notKept: isTrusted ? notKept : [...notKept, trustOnFirstUse],
  };
}

const trustOnFirstUse =
  'whether the providers are genuine: the version has no lock file, so this check made one, and later runs get the same providers';

async function runInit(
  session: ToolSession,
  cache: InitCache,
  data: string,
  modules: ModuleAccess,
): Promise<{ lock: Buffer | null; isComplete: boolean }> {
  const supply = { store: cache.providers, reachOf: reachOf(session, cache) };
  const stock = await stockProviders(session, { ...supply, lock: session.ownLock, isExact: false, modules });
  const { collected = null, code } = await session.call({
    subcommand: 'init',
    modules,
    stock,
    options: () => ['-backend=false', '-input=false', '-no-color'],
    reason: 'init_failed',
    expected: [0, 1],
    initialized: null,
    data,
    seesVariables: false,
    network: { state: false, egress: true },
    collect: (results, paths) =>
      results.read(join(paths.work, session.executor.directory ?? '', lockFile), maxLockBytes).catch(() => null),
  });
  if (code === 0) await settleProviders(session, data, collected, stock, supply);
  return { lock: collected, isComplete: code === 0 };
}

/** The modules that later runs of the version will use. If they cannot be stored, the version is still valid. */
async function resolvedModules(
  data: string,
): Promise<{ readonly modules: ResolvedModules | null; readonly notKept: readonly string[] }> {
  try {
    await removeGitDirectories(data);
    const digest = await digestModules(data);
    return { modules: digest === '' ? null : await packModules(data, digest), notKept: [] };
  } catch (error) {
    return {
      modules: null,
      notKept: [`whether later runs get the same modules: they are not kept: ${messageOf(error)}`],
    };
  }
}
