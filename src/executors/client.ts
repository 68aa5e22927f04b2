import { parseDuration } from '#domain/shared/durations.ts';
import { makeAttemptDirectory, sweepAttempt } from './attempt-directory.ts';
import { AttemptFailure, reportUnforeseen } from './attempt-error.ts';
import { Conversation } from './conversation.ts';
import type { ExecutorHost } from './executor-host.ts';
import { keepSpare, takeHost } from './executor-spare.ts';
import type { StepKind, WireRequest, WireStep } from './messages.ts';
import type { CommandStep, ExecutionRequest, ExecutionResult, ExecutionSink } from './protocol.ts';
import { chooseTool, type InstalledTool } from './tools.ts';

export { sweepLeftovers } from './attempt-directory.ts';
export { discoverTools } from './tools.ts';

/**
 * Runs one attempt in an executor process of its own and resolves with what it came to; it rejects only where the worker
 * itself is at fault (no directory, no process). When it resolves, no process of the attempt is left and its directory
 * is gone. Aborting asks the tool to stop, and kills it after the grace.
 */
export async function execute(
  request: ExecutionRequest,
  sink: ExecutionSink,
  signal: AbortSignal,
): Promise<ExecutionResult> {
  const session = new ExecutorSession();
  try {
    return await session.execute(request, sink, signal);
  } finally {
    session.close();
  }
}

/**
 * The attempts of one run that follow each other at once: they share an executor, as long as the one before succeeded and
 * left nothing behind. What a template could leave in it for its own next attempt, it could do there itself.
 */
export class ExecutorSession {
  #kept: { readonly host: ExecutorHost; readonly runId: string } | null = null;

  /** As `execute`. */
  async execute(request: ExecutionRequest, sink: ExecutionSink, signal: AbortSignal): Promise<ExecutionResult> {
    if (signal.aborted)
      return { outcome: 'canceled', reason: 'canceled', message: 'the attempt was canceled', exitCode: null };
    try {
      const tool = request.executor.kind === 'opentofu' ? await chooseTool(request.tool) : null;
      return await this.#executeOn(await this.#takeHost(request, tool), request, tool, sink, signal);
    } catch (error) {
      if (!(error instanceof AttemptFailure)) throw error;
      return { outcome: 'failed', reason: error.reason, message: error.message, exitCode: null };
    }
  }

  /** No attempt follows. */
  close(): void {
    if (this.#kept !== null) tidyUp(this.#kept.host, null).catch(reportUnforeseen);
    this.#kept = null;
  }

  async #takeHost({ runId, user }: ExecutionRequest, tool: InstalledTool | null): Promise<ExecutorHost> {
    const kept = this.#kept;
    if (kept?.runId === runId && !kept.host.hasExited && (tool === null || kept.host.reaches(tool))) {
      this.#kept = null;
      return kept.host;
    }
    this.close();
    const host = await takeHost(user, tool);
    keepSpare(user);
    return host;
  }

  async #executeOn(
    host: ExecutorHost,
    request: ExecutionRequest,
    tool: InstalledTool | null,
    sink: ExecutionSink,
    signal: AbortSignal,
  ): Promise<ExecutionResult> {
    let directory: string | null = null;
    let isTidy = false;
    try {
      directory = await makeAttemptDirectory(request.workRoot, host.identity, host.cookie);
      const wired = wireRequest(request, directory, tool, tool && host.pathOf(tool));
      const { result, hasCleaned } = await new Conversation(host, sink).run(wired, request, signal);
      isTidy = hasCleaned;
      if (isTidy && result.outcome === 'succeeded' && host.diagnostic === '')
        this.#kept = { host, runId: request.runId };
      return result;
    } finally {
      if (this.#kept?.host !== host) {
        const tidied = tidyUp(host, directory);
        // An executor that came to its end has done all this itself: its last breath is not worth waiting for.
        if (isTidy) tidied.catch(reportUnforeseen);
        else await tidied;
      }
    }
  }
}

async function tidyUp(host: ExecutorHost, directory: string | null): Promise<void> {
  host.kill();
  host.channel.destroy();
  await host.exited;
  await sweepAttempt(directory, host.identity, host.cookie);
  host.identity.release();
}

function wireRequest(
  request: ExecutionRequest,
  directory: string,
  tool: InstalledTool | null,
  toolPath: string | null,
): WireRequest {
  const { state: _state, artifact: _artifact, workRoot: _workRoot, user: _user, executor, ...rest } = request;
  const pinned = tool && { name: tool.name, version: tool.version };
  return { ...rest, executor: wireExecutor(executor), tool: pinned, toolPath, directory };
}

function wireExecutor(executor: ExecutionRequest['executor']): WireRequest['executor'] {
  if (executor.kind === 'opentofu') return executor;
  const wired: Partial<Record<StepKind, WireStep[]>> = {};
  for (const kind of ['plan', 'apply', 'destroy', 'detect'] as const) {
    const steps = executor[kind];
    if (steps) wired[kind] = steps.map(wireStep);
  }
  return { kind: 'command', files: executor.files, ...wired };
}

function wireStep({ timeout, ...step }: CommandStep): WireStep {
  if (timeout === undefined) return { ...step, timeoutMs: null };
  const seconds = parseDuration(timeout);
  if (seconds === null) {
    throw new AttemptFailure(
      'operation_unsupported',
      `step "${step.name}" has the timeout "${timeout}", which is no duration`,
    );
  }
  return { ...step, timeoutMs: seconds * 1000 };
}
