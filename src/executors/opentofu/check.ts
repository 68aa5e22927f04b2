import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import type { ExecutionReason } from '#domain/runs/reasons/model.ts';
import type { Attempt, AttemptSuccess } from '../attempt/attempt.ts';
import { DiagnosticList } from '../attempt/diagnostic-list.ts';
import type { CheckReport, OpenTofuExecutor } from '../protocol/request.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { lockFile } from './initialization/configuration.ts';
import type { Initialization } from './initialization/init-cache.ts';
import { ToolSession } from './session.ts';
import { StateBackend } from './state/state-backend.ts';
import { TofuState } from './state/tofu-state.ts';
import { readValidation } from './validation.ts';

const maxLockBytes = 1024 * 1024;
const maxValidationBytes = 8 * 1024 * 1024;

/** What a run would refuse before it starts the tool. */
const refusals: readonly ExecutionReason[] = ['no_configuration', 'backend_forbidden', 'files_invalid'];

/**
 * Checks a configuration with the tool: `init` without a backend, and `validate`. Nothing is planned. `validate` starts the providers, so it gets
 * neither a network nor the variables of the environment.
 * @throws AttemptFailure if the check itself could not be made
 */
export async function checkOpenTofu(attempt: Attempt, executor: OpenTofuExecutor): Promise<AttemptSuccess> {
  const { tool } = attempt.request;
  const check = await checkConfiguration(attempt, executor).catch((error: unknown) => {
    if (!(error instanceof AttemptFailure) || !refusals.includes(error.reason)) throw error;
    return { findings: [{ severity: 'error', message: error.message } as const], unchecked: [], missingPrograms: [] };
  });
  return { check, ...(tool && { tool }) };
}

async function checkConfiguration(attempt: Attempt, executor: OpenTofuExecutor): Promise<CheckReport> {
  const backend = new StateBackend(new TofuState(attempt.state, attempt.redactor), { isReadOnly: true });
  const session = new ToolSession(attempt, executor, backend, Buffer.from('{}'));
  const { initialized, problems } = await fetch(session);
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
  for (const finding of findings) list.add(finding);
  return {
    findings: list.list(),
    unchecked: unchecked.map((text) => attempt.redactor.redactText(text)),
    missingPrograms: [],
  };
}

/** Fetches modules and providers into a directory of the attempt. What cannot be had is among the problems. */
async function fetch(session: ToolSession): Promise<{ initialized: Initialization; problems: readonly Diagnostic[] }> {
  const { attempt, executor } = session;
  const data = join(attempt.directory, 'checked');
  await mkdir(data, { mode: 0o700 });
  const { collected = null } = await session.call({
    subcommand: 'init',
    options: () => ['-backend=false', '-input=false', '-no-color'],
    reason: 'init_failed',
    expected: [0, 1],
    initialized: null,
    data,
    seesVariables: false,
    network: { state: false, egress: true },
    collect: (results, paths) =>
      results.read(join(paths.work, executor.directory ?? '', lockFile), maxLockBytes).catch(() => null),
  });
  return { initialized: { data, lock: collected, modules: '' }, problems: attempt.diagnostics.list() };
}
