import { checkGraceSeconds, checkLimitSeconds } from '#domain/registry/checks/model.ts';
import { type OpenedSources, openCheckSources } from '#domain/registry/checks/module-sources.ts';
import {
  type CheckWork,
  endCheck,
  loadCheckWork,
  noteFailedTry,
  takeNextCheckStep,
} from '#domain/registry/checks/steps.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { bestOf } from '#domain/tools/demand.ts';
import { toolNames } from '#domain/tools/model.ts';
import type { ExecutionRequest, ExecutionResult, ExecutionSink, Tool } from '#executors/protocol/request.ts';
import { resolveExecutor } from './attempts/executor-request.ts';
import { type FailedTry, type Found, hasModules, isAccepted, joinTried, type Tried, toTried } from './check-results.ts';
import type { ActivityDeps, AttemptDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { CheckActivities, CheckStepActivities } from './template-checks.contract.ts';
import { writeWithRetry } from './write-with-retry.ts';

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
    checkTemplate: (checkId) =>
      withHeartbeat((canceled) => checkTemplate(deps, checkId, AbortSignal.any([canceled, deps.attempts.stopping]))),
  };
}

async function checkTemplate(deps: CheckDeps, checkId: string, signal: AbortSignal): Promise<void> {
  const work = await loadCheckWork(deps.orm.em.fork(), checkId);
  if (!work) return;
  const opened = await deps.transactions.run((tx) => openCheckSources(tx, deps.keyRing, checkId));
  const found = await check(deps, { ...work, ...opened }, signal);
  if (found === null) return;
  const write = (store: (tx: Transaction) => Promise<void>) =>
    writeWithRetry(deps, checkId, () => deps.transactions.run(store));
  if ('failure' in found) return write((tx) => noteFailedTry(tx.em, checkId, found.failure));
  const { resolved = [], ...result } = found;
  const told = opened.problem === null ? result : { ...result, notChecked: [...result.notChecked, opened.problem] };
  await write((tx) => endCheck(tx, checkId, told, resolved));
}

type OpenedWork = CheckWork & OpenedSources;

/** Runs a check. Null if the worker stops or no longer has a tool; the check is then tried again later. */
async function check(deps: CheckDeps, work: OpenedWork, signal: AbortSignal): Promise<Found | FailedTry | null> {
  if (work.spec.executor.kind === 'command') return checkBy(deps, work, null, signal);
  const usable = (await deps.findTools()).filter(work.isUsable);
  // If a version names no tool, either tool may run it. So the check fails only if both tools refuse it.
  const tools = toolNames.flatMap((name) => bestOf(usable.filter((tool) => tool.name === name)) ?? []);
  const tried: Tried[] = [];
  for (const tool of tools) {
    // Each tool resolves modules from elsewhere by itself, so a version with such modules is checked with both tools.
    if (tried.some((each) => isAccepted(each) && !hasModules(each))) break;
    tried.push(await checkBy(deps, work, tool, signal));
  }
  return joinTried(tried, work.kinds);
}

async function checkBy(deps: CheckDeps, work: OpenedWork, tool: Tool | null, signal: AbortSignal): Promise<Tried> {
  const executed = await execute(deps, work, tool, signal);
  const { outcome, reason, message, diagnostic } = executed;
  if (!executed.check && outcome !== 'canceled')
    deps.log.warn(
      { check_id: work.id, outcome, reason, message, diagnostic },
      'a template version could not be checked',
    );
  return toTried(work, tool, executed);
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
