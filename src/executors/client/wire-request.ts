import { parseDuration } from '#domain/shared/values/durations.ts';
import type { CommandStep, ExecutionRequest } from '../protocol/request.ts';
import type { WireRequest, WireStep } from '../protocol/request-schema.ts';
import { AttemptFailure } from '../shared/errors.ts';
import type { InstalledTool } from './tools.ts';

/** Converts a request to the form that crosses the pipe. @throws AttemptFailure if a step has an invalid timeout */
export function wireRequest(request: ExecutionRequest, tool: InstalledTool | null): WireRequest {
  const { state: _state, artifact: _artifact, modules = null, executor, ...rest } = request;
  return {
    ...rest,
    modules: modules && { digest: modules.digest, list: modules.list, locks: modules.locks },
    executor: wireExecutor(executor),
    tool: tool && { name: tool.name, version: tool.version },
    toolPath: tool?.path ?? null,
  };
}

function wireExecutor(executor: ExecutionRequest['executor']): WireRequest['executor'] {
  if (executor.kind === 'opentofu') return executor;
  const { plan, apply, destroy, detect, ...rest } = executor;
  return {
    ...rest,
    plan: plan?.map(wireStep),
    apply: apply.map(wireStep),
    destroy: destroy?.map(wireStep),
    detect: detect?.map(wireStep),
  };
}

function wireStep({ timeout, ...step }: CommandStep): WireStep {
  if (timeout === undefined) return { ...step, timeoutMs: null };
  const seconds = parseDuration(timeout);
  if (seconds === null) {
    throw new AttemptFailure(
      'operation_unsupported',
      `step "${step.name}" has the timeout "${timeout}", which is not a duration`,
    );
  }
  return { ...step, timeoutMs: seconds * 1000 };
}
