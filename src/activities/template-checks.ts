import { Context } from '@temporalio/activity';
import type { CheckFinding, SandboxCheck } from '#domain/registry/checks/model.ts';
import { checkGraceSeconds, checkLimitSeconds } from '#domain/registry/checks/model.ts';
import { type OpenedSources, openCheckSources } from '#domain/registry/checks/module-sources.ts';
import type { ToolModules } from '#domain/registry/checks/modules.ts';
import { type CheckWork, endCheck, loadCheckWork, notDone, takeNextCheckStep } from '#domain/registry/checks/steps.ts';
import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import { bestOf } from '#domain/tools/demand.ts';
import { toolNames } from '#domain/tools/model.ts';
import type {
  CheckReport,
  ExecutionRequest,
  ExecutionResult,
  ExecutionSink,
  Tool,
} from '#executors/protocol/request.ts';
import { resolveExecutor } from './attempts/executor-request.ts';
import { watchCancellation } from './cancellation.ts';
import type { ActivityDeps, AttemptDeps } from './deps.ts';
import type { CheckActivities, CheckStepActivities } from './template-checks.contract.ts';
import { writeWithRetry } from './write-with-retry.ts';

const heartbeatMs = 3_000;
/** Discards the log of a check. Its report says what the worker found. */
const noLog: ExecutionSink = {
  log: async () => undefined,
  state: () => Promise.reject(new Error('a check has no state')),
};

export function createCheckStepActivities({ transactions }: Pick<ActivityDeps, 'transactions'>): CheckStepActivities {
  return { nextCheckStep: (checkId) => transactions.run((tx) => takeNextCheckStep(tx, checkId)) };
}

type CheckDeps = ActivityDeps & Pick<AttemptDeps, 'executor' | 'findTools' | 'limits' | 'attempts'>;

export function createCheckActivities(deps: CheckDeps): CheckActivities {
  return {
    checkTemplate: async (checkId) => {
      const context = Context.current();
      const heartbeat = setInterval(() => context.heartbeat(), heartbeatMs);
      try {
        await checkTemplate(deps, checkId, AbortSignal.any([watchCancellation(context), deps.attempts.stopping]));
      } finally {
        clearInterval(heartbeat);
      }
    },
  };
}

async function checkTemplate(deps: CheckDeps, checkId: string, signal: AbortSignal): Promise<void> {
  const work = await loadCheckWork(deps.orm.em.fork(), checkId);
  if (!work) return;
  const opened = await deps.transactions.run((tx) => openCheckSources(tx, deps.keyRing, checkId));
  const found = await check(deps, { ...work, ...opened }, signal);
  if (found === null) return;
  const { resolved = [], ...result } = found;
  const told = opened.problem === null ? result : { ...result, notChecked: [...result.notChecked, opened.problem] };
  await writeWithRetry(deps, checkId, () => deps.transactions.run((tx) => endCheck(tx, checkId, told, resolved)));
}

type OpenedWork = CheckWork & OpenedSources;

/** What one tool found, and the modules that it and another one resolved. */
interface Found extends SandboxCheck {
  readonly resolved?: readonly ToolModules[];
}

/** Null if this worker cannot say anything: another try is made later. */
async function check(deps: CheckDeps, work: OpenedWork, signal: AbortSignal): Promise<Found | null> {
  if (work.spec.executor.kind === 'command') return toResult(work, null, await execute(deps, work, null, signal));
  const usable = (await deps.findTools()).filter(work.isUsable);
  // Either tool may run a version that names none, so the check fails only if both tools refuse it.
  const tools = toolNames.flatMap((name) => bestOf(usable.filter((tool) => tool.name === name)) ?? []);
  const others: Found[] = [];
  let accepted: Found | null = null;
  for (const tool of tools) {
    // Each tool resolves modules from elsewhere by itself, so a version with such modules is checked with both.
    if (accepted && accepted.resolved === undefined) break;
    const result = toResult(work, tool, await execute(deps, work, tool, signal));
    if (!accepted && result?.state === 'passed') accepted = result;
    else if (result) others.push(result);
  }
  return accepted ? withOthers(accepted, others, work) : (others[0] ?? null);
}

/** What another tool says against a version that this one accepts is worth knowing, and so is that its modules are not kept yet. */
function withOthers(result: Found, others: readonly Found[], { kinds }: OpenedWork): Found {
  const warnings = others.flatMap(({ errors, tool }) =>
    errors.map((error) => ({ ...error, message: `${tool?.name} ${tool?.version} refuses it: ${error.message}` })),
  );
  const resolved = [result, ...others].flatMap((each) => each.resolved ?? []);
  const later = kinds.filter((kind) => resolved.length > 0 && !resolved.some(({ tool }) => tool === kind));
  return {
    ...result,
    warnings: [...result.warnings, ...warnings],
    notChecked: [
      ...result.notChecked,
      ...later.map((kind) => `which modules from elsewhere ${kind} uses: its first plan decides, and keeps them`),
    ],
    ...(resolved.length > 0 && { resolved }),
  };
}

function execute(
  { executor, limits }: CheckDeps,
  work: OpenedWork,
  tool: Tool | null,
  signal: AbortSignal,
): Promise<ExecutionResult> {
  const request: ExecutionRequest = {
    attemptId: work.id,
    runId: work.id,
    templateVersion: work.id,
    phase: 'detect',
    check: true,
    operation: 'plan',
    replace: [],
    executor: resolveExecutor(work),
    variables: {},
    sensitiveVariables: [],
    environment: [],
    moduleSources: work.sources,
    outputs: {},
    state: null,
    artifact: null,
    tool,
    timeoutMs: checkLimitSeconds * 1000,
    graceMs: checkGraceSeconds * 1000,
    limits,
    egress: work.egress,
  };
  return executor.execute(request, noLog, signal);
}

/** What a result says about a version; null if the worker is at fault, or stops. */
function toResult(
  work: CheckWork,
  tool: Tool | null,
  { check: report, outcome, message, modules }: ExecutionResult,
): Found | null {
  if (report) {
    const resolved = modules && tool ? { resolved: [{ tool: tool.name, modules }] } : {};
    return { ...fromReport(work, tool, report), ...resolved };
  }
  if (outcome === 'timed_out' || outcome === 'limit_exceeded')
    return { ...notDone(`the check was stopped: ${message ?? outcome}`), tool };
  return null;
}

function fromReport({ pool }: CheckWork, tool: Tool | null, report: CheckReport): SandboxCheck {
  const { findings, unchecked, missingPrograms } = report;
  const ofSeverity = (severity: Diagnostic['severity']) =>
    findings.filter((each) => each.severity === severity).map(toFinding);
  const errors = ofSeverity('error');
  const missing = missingPrograms.map(({ list, index, program }) => ({
    path: `/executor/${list}/${index}/run/0`,
    message: `the worker of the pool "${pool}" that looked has no program "${program}"`,
  }));
  return {
    state: errors.length > 0 ? 'failed' : 'passed',
    tool: tool && { name: tool.name, version: tool.version },
    errors,
    warnings: [...ofSeverity('warning'), ...missing],
    notChecked: unchecked,
  };
}

/** A file of a module from elsewhere is none of the version's. */
function toFinding({ message, detail = '', file, line }: Diagnostic): CheckFinding {
  const text = detail === '' ? message : `${message}: ${detail.replaceAll(/\s+/g, ' ')}`;
  const isElsewhere = file?.split('/').includes('.terraform') ?? false;
  const place = isElsewhere ? ` (${file}, line ${line})` : '';
  return { path: '/executor', message: `${text}${place}`, ...(file !== undefined && !isElsewhere && { file, line }) };
}
