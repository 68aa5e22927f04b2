import { parseDuration } from '#domain/shared/values/durations.ts';
import type { CommandStep, ExecutionRequest } from '../protocol/request.ts';
import { type StepKind, stepKinds, type WireRequest, type WireStep } from '../protocol/request-schema.ts';
import { AttemptFailure } from '../shared/errors.ts';
import type { InstalledTool } from './tools.ts';

/** Converts a request to the form that crosses the pipe. @throws AttemptFailure if a step has an invalid timeout */
export function wireRequest(request: ExecutionRequest, tool: InstalledTool | null): WireRequest {
  const { state: _state, artifact: _artifact, modules = null, executor, ...rest } = request;
  const pinned = tool && { name: tool.name, version: tool.version };
  // The cast drops `readonly`: the request is copied when it crosses the pipe.
  const known = modules && { digest: modules.digest, list: modules.list };
  return {
    ...rest,
    modules: known,
    executor: wireExecutor(executor),
    tool: pinned,
    toolPath: tool?.path ?? null,
  } as WireRequest;
}

function wireExecutor(executor: ExecutionRequest['executor']): object {
  if (executor.kind === 'opentofu') return executor;
  const wired: Partial<Record<StepKind, WireStep[]>> = {};
  for (const kind of stepKinds) {
    const steps = executor[kind];
    if (steps) wired[kind] = steps.map(wireStep);
  }
  return { kind: 'command', files: executor.files, ...wired };
}

function wireStep({ timeout, run, env, name }: CommandStep): WireStep {
  const step = { name, run: [...run], ...(env && { env: { ...env } }) };
  if (timeout === undefined) return { ...step, timeoutMs: null };
  const seconds = parseDuration(timeout);
  if (seconds === null) {
    throw new AttemptFailure(
      'operation_unsupported',
      `step "${name}" has the timeout "${timeout}", which is not a duration`,
    );
  }
  return { ...step, timeoutMs: seconds * 1000 };
}
