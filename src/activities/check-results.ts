import type { CheckFinding, SandboxCheck } from '#domain/registry/checks/model.ts';
import type { ToolModules } from '#domain/registry/checks/modules.ts';
import { type CheckWork, notDone } from '#domain/registry/checks/steps.ts';
import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import { joinLines } from '#domain/shared/values/text.ts';
import type { ExecutionReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { ExecutionResult, Tool } from '#executors/protocol/request.ts';
import type { CheckReport } from '#executors/protocol/result-schema.ts';

/** Combines the results of a worker's tools for a version. Pure. */

/** The findings of one tool, and the modules and providers that it and another tool resolved. */
export interface Found extends SandboxCheck {
  readonly resolved?: readonly ToolModules[];
}

/** A failure of the worker: another worker may be able to check. */
export interface FailedTry {
  readonly failure: string;
}

/** The result of one tool; null if the worker stops. */
export type Tried = Found | FailedTry | null;

/** Reasons with which an attempt fails that could succeed elsewhere, or at another time. All other reasons would occur again. */
const ofWorker: readonly (ExecutionReason | null)[] = [
  'executor_failed',
  'executor_lost',
  'sandbox_unavailable',
  'tool_unavailable',
];

/** Converts the result of an attempt into a result about the version. */
export function toTried(
  work: Pick<CheckWork, 'pool'>,
  tool: Tool | null,
  { check: report, outcome, reason, message, modules }: ExecutionResult,
): Tried {
  if (report) {
    const resolved = modules && tool ? { resolved: [{ tool: tool.name, modules }] } : {};
    return { ...fromReport(work, tool, report), ...resolved };
  }
  if (outcome === 'canceled') return null;
  const why = message ?? reason ?? outcome;
  if (ofWorker.includes(reason)) return { failure: `the worker could not check: ${why}` };
  const isStopped = outcome === 'timed_out' || outcome === 'limit_exceeded';
  return { ...notDone(isStopped ? `the check was stopped: ${why}` : `the check could not be made: ${why}`), tool };
}

/** Whether the version has modules from elsewhere. */
export function hasModules({ resolved = [] }: Found): boolean {
  return resolved.some(({ modules }) => modules.list.length > 0);
}

export function isAccepted(tried: Tried): tried is Found {
  return isFound(tried) && tried.state === 'passed';
}

function isFound(tried: Tried): tried is Found {
  return tried !== null && 'state' in tried;
}

/**
 * Joins the results of all tools that were tried. A version passes if one tool accepts it, and fails only if all refuse it.
 * @param kinds the kinds of tools that may run the version
 */
export function joinTried(tried: readonly Tried[], kinds: readonly string[]): Tried {
  const found = tried.filter(isFound);
  const accepted = found.find(isAccepted);
  const open = tried.find((each) => !isFound(each));
  const othersThan = (result: Found) => found.filter((each) => each !== result);
  if (accepted) return withOthers(accepted, othersThan(accepted), kinds);
  if (open !== undefined) return open;
  const notMade = found.find(({ state }) => state === 'not_done');
  if (notMade) return { ...notMade, warnings: [...notMade.warnings, ...refusalsOf(othersThan(notMade))] };
  return found[0] ?? null;
}

/**
 * Adds what publishers should know: the errors of other tools in a version that this tool accepts, and that its modules are not stored yet.
 */
function withOthers(result: Found, others: readonly Found[], kinds: readonly string[]): Found {
  const resolved = [result, ...others].flatMap((each) => each.resolved ?? []);
  const isOfModules = [result, ...others].some(hasModules);
  const later = kinds.filter((kind) => isOfModules && !resolved.some(({ tool }) => tool === kind));
  return {
    ...result,
    warnings: [...result.warnings, ...refusalsOf(others)],
    notChecked: [
      ...result.notChecked,
      ...others
        .filter(({ state }) => state === 'not_done')
        .flatMap(({ tool, notChecked }) => notChecked.map((why) => `whether ${tool?.name} accepts it: ${why}`)),
      ...later.map((kind) => `which modules from elsewhere ${kind} uses: its first plan decides, and keeps them`),
    ],
    ...(resolved.length > 0 && { resolved }),
  };
}

function refusalsOf(others: readonly Found[]): CheckFinding[] {
  return others.flatMap(({ errors, tool }) =>
    errors.map((error) => ({ ...error, message: `${tool?.name} ${tool?.version} refuses it: ${error.message}` })),
  );
}

function fromReport({ pool }: Pick<CheckWork, 'pool'>, tool: Tool | null, report: CheckReport): SandboxCheck {
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

/** Converts a diagnostic into a finding. The file of a module from elsewhere is left out, because it does not belong to the version. */
function toFinding({ message, detail = '', file, line }: Diagnostic): CheckFinding {
  const text = detail === '' ? message : `${message}: ${joinLines(detail)}`;
  const isElsewhere = file?.split('/').includes('.terraform') ?? false;
  const place = isElsewhere ? ` (${file}, line ${line})` : '';
  return { path: '/executor', message: `${text}${place}`, ...(file !== undefined && !isElsewhere && { file, line }) };
}
