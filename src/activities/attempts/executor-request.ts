import { createHmac } from 'node:crypto';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import { toolGraceMs } from '#domain/runs/model.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { logPhaseOf } from '#domain/shared/vocabulary/runs.ts';
import { type ToolName, toolNames } from '#domain/tools/model.ts';
import type { ExecutionRequest, ResolvedExecutor, Tool } from '#executors/protocol/request.ts';
import type { AttemptDeps } from '../deps.ts';

/** Builds the executor's request for an attempt. */
export function toExecutorRequest(
  work: AttemptWork,
  { limits, bindingKey }: Pick<AttemptDeps, 'limits' | 'bindingKey'>,
): ExecutionRequest {
  const { run, attempt, spec, inputs, tool, connections } = work;
  const planning = attempt.phase === 'planning';
  return {
    attemptId: attempt.id,
    runId: run.id,
    templateVersion: run.templateVersionId,
    phase: logPhaseOf(run.operation, attempt.phase),
    operation: run.operation,
    replace: run.replace,
    options: run.options ?? undefined,
    executor: resolveExecutor(work),
    variables: inputs.variables,
    sensitiveVariables: inputs.sensitive,
    earlierSecrets: work.stateSecrets,
    environment: mergeEnvironment(inputs.environment, connections),
    environmentFiles: connections.files,
    modules: work.modules,
    moduleSources: connections.moduleSources,
    ...(inputs.remoteStates && { remoteStates: inputs.remoteStates }),
    outputs: spec.outputs,
    state: work.state,
    artifact: work.artifact,
    planDigest: work.planDigest,
    ...(run.operation === 'scan' && { secretsKey: secretsKeyOf(bindingKey, run.instanceId) }),
    tool: toTool(tool),
    timeoutMs: (planning ? run.timeouts.plan : run.timeouts.apply) * 1000,
    graceMs: toolGraceMs,
    limits,
    egress: work.egress,
  };
}

/**
 * Merges variables. A variable of a connection replaces one with the same name, because people who may not bind connections may have set
 * the latter.
 */
function mergeEnvironment(
  environment: AttemptWork['inputs']['environment'],
  { variables, files }: AttemptWork['connections'],
): ExecutionRequest['environment'] {
  const given = new Set([...variables, ...files].map(({ name }) => name));
  return [...environment.filter(({ name }) => !given.has(name)), ...variables];
}

/** A key for the instance. Findings of scans stay comparable with it, although the keys of the service's key ring may change. */
function secretsKeyOf(bindingKey: Buffer, instanceId: string): string {
  const text = canonicalJson(['secrets of scans', instanceId]);
  return createHmac('sha256', bindingKey).update(text).digest('base64');
}

/** The executor of the spec, with the files of the version. */
export function resolveExecutor({ spec, files }: Pick<AttemptWork, 'spec' | 'files'>): ResolvedExecutor {
  const { executor } = spec;
  return executor.kind === 'command'
    ? { ...executor, files }
    : { kind: 'opentofu', files, directory: executor.git?.path };
}

function toTool(tool: { name: string; version: string } | null): Tool | null {
  return tool && isToolName(tool.name) ? { name: tool.name, version: tool.version } : null;
}

function isToolName(name: string): name is ToolName {
  return (toolNames as readonly string[]).includes(name);
}
