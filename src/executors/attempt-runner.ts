import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionReason } from '#domain/runs/model.ts';
import type { Attempt, Performed, Places } from './attempt.ts';
import { AttemptControl, type StopCause } from './attempt-control.ts';
import { AttemptFailure, reportUnforeseen } from './attempt-error.ts';
import { AttemptProcesses } from './attempt-processes.ts';
import { awaitDrained, type ChildHost, type Command, type Exit, runChild } from './child-process.ts';
import { runCommands } from './command.ts';
import { allowedEnvironment, type Environment, isReserved, reachablePath } from './environment.ts';
import { watchLimits } from './limits.ts';
import { LogWriter } from './log-writer.ts';
import type { WireRequest, WireResult } from './messages.ts';
import { runOpenTofu } from './opentofu.ts';
import { OutputRecorder } from './output-recorder.ts';
import { type AttemptMark, cookieVariable } from './process-table.ts';
import type { LogChunk, Progress, StateMeta } from './protocol.ts';
import { Redactor } from './redaction.ts';
import { StateKeeper } from './state-keeper.ts';

const drainPatienceMs = 2_000;

/** The worker, as an attempt sees it. */
export interface AttemptWorker {
  sendLog(chunk: LogChunk): void;
  /** Resolves to whether the state is kept for good. */
  saveState(content: Buffer, meta: StateMeta): Promise<boolean>;
  sendProgress(progress: Progress): void;
}

export interface AttemptInput {
  readonly request: WireRequest;
  readonly state: Buffer | null;
  readonly artifact: Buffer | null;
}

export interface AttemptEnd {
  readonly result: WireResult;
  readonly artifact: Buffer | null;
  readonly unsaved: Buffer | null;
  /** Whether no process of it is left. */
  readonly isClean: boolean;
}

/** One attempt from its request to its result. Whatever happens, no process of it is left when `run` resolves. */
export class AttemptRunner {
  readonly #input: AttemptInput;
  readonly #redactor = new Redactor();
  readonly #processes: AttemptProcesses;
  readonly #control: AttemptControl;
  readonly #writer: LogWriter;
  readonly #recorder: OutputRecorder;
  readonly #state: StateKeeper;
  readonly #worker: AttemptWorker;
  readonly #mark: AttemptMark;
  readonly #draining = new Set<Promise<unknown>>();
  #exitCode: number | null = null;

  constructor(input: AttemptInput, mark: AttemptMark, worker: AttemptWorker) {
    const { request, state } = input;
    this.#input = input;
    this.#mark = mark;
    this.#worker = worker;
    this.#learnSecrets();
    this.#processes = new AttemptProcesses(mark);
    const kill = () => void this.#processes.killAll();
    this.#control = new AttemptControl({
      graceMs: request.graceMs,
      interrupt: () => this.#processes.interrupt(),
      kill,
    });
    const limit = request.limits.logBytes ?? null;
    this.#writer = new LogWriter({ phase: request.phase, limit, send: (chunk) => worker.sendLog(chunk) });
    this.#recorder = new OutputRecorder({
      ...{ redactor: this.#redactor, writer: this.#writer, limitBytes: request.limits.outputBytes },
      onLimit: () => this.#control.stop(outputLimit(request.limits.outputBytes)),
    });
    this.#state = new StateKeeper({
      ...{ initial: state, redactor: this.#redactor },
      save: (content, meta) => worker.saveState(content, meta),
    });
  }

  stop(cause: StopCause): void {
    this.#control.stop(cause);
  }

  acknowledgeLog(sequence: number): void {
    this.#writer.acknowledge(sequence);
  }

  /** The worker is gone: nobody reads the log, and nothing is left to do but to end everything. */
  async abandon(): Promise<void> {
    const message = 'the worker is gone';
    this.#writer.abandon();
    this.#control.stop({ outcome: 'failed', reason: 'executor_failed', message, urgency: 'now' });
    await this.#processes.killAll();
  }

  async run(): Promise<AttemptEnd> {
    const unwatch = watchLimits(this.#input.request, this.#input.request.directory, this.#processes, this.#control);
    let performed: Performed = {};
    let failure: unknown = null;
    try {
      performed = await this.#perform();
    } catch (error) {
      failure = error;
    }
    unwatch();
    this.#control.close();
    const isClean = await this.#processes.killAll();
    await awaitDrained(Promise.all(this.#draining), drainPatienceMs, () => this.#writer.isBehind);
    if (!isClean) this.#recorder.note('[processes of this attempt are still alive and cannot be killed]');
    const result = this.#conclude(performed, failure);
    if (result.message !== null) this.#recorder.note(result.message);
    this.#recorder.flush();
    await this.#writer.end();
    return { result, artifact: performed.plan?.artifact ?? null, unsaved: this.#state.unsaved, isClean };
  }

  #learnSecrets(): void {
    const { variables, sensitiveVariables, environment } = this.#input.request;
    for (const name of sensitiveVariables) this.#redactor.learn(variables[name] ?? null);
    for (const { value, sensitive } of environment) if (sensitive) this.#redactor.learn(value);
  }

  async #perform(): Promise<Performed> {
    const { request, artifact } = this.#input;
    const places = await makePlaces(request.directory);
    const attempt: Attempt = {
      ...{ request, artifact, places, redactor: this.#redactor, state: this.#state, control: this.#control },
      environment: this.#baseEnvironment(places),
      run: (command) => this.#runChild(command),
      note: (text) => this.#recorder.note(text),
      progress: (step) => this.#worker.sendProgress({ step, time: new Date().toISOString() }),
      lastErrors: () => this.#recorder.lastErrors(),
    };
    const { executor } = request;
    return executor.kind === 'opentofu' ? runOpenTofu(attempt, executor) : runCommands(attempt, executor);
  }

  #baseEnvironment({ home, temporary }: Places): Environment {
    const given: Environment = {};
    for (const { name, value } of this.#input.request.environment) {
      if (isReserved(name))
        this.#recorder.note(`the variable ${name} is not passed on: its name is kept for the service`);
      else given[name] = value;
    }
    const allowed = allowedEnvironment(process.env);
    const own = { HOME: home, TMPDIR: temporary, [cookieVariable]: this.#mark.cookie };
    return { ...allowed, PATH: reachablePath(allowed['PATH'] ?? ''), ...given, ...own };
  }

  async #runChild(command: Command): Promise<Exit> {
    this.#control.assertRunning();
    const exit = await runChild(command, this.#childHost(command));
    this.#recorder.flush();
    this.#exitCode = exit.code;
    // What was asked to stop and yet ended well has done its work.
    if (exit.code !== 0) this.#control.assertRunning();
    return exit;
  }

  #childHost(command: Command): ChildHost {
    return {
      started: (leader, drained) => {
        this.#processes.addGroup(leader);
        const settled = drained.catch(reportUnforeseen).finally(() => this.#draining.delete(settled));
        this.#draining.add(settled);
      },
      ended: (leader) => this.#processes.dropGroupIfEmpty(leader),
      output: (stream, piece) => this.#recorder.take(stream, piece),
      isBehind: () => this.#writer.isBehind,
      timedOut: () => this.#control.stop(stepTimeout(command)),
    };
  }

  #conclude(performed: Performed, failure: unknown): WireResult {
    const exitCode = this.#exitCode;
    const lost = this.#state.failure;
    const { cause } = this.#control;
    const { plan, ...rest } = performed;
    const tool = this.#input.request.tool;
    if (lost !== null) return { ...failed(lost.reason, lost.message), exitCode };
    if (failure === null && (cause === null || cause.outcome === 'canceled' || cause.outcome === 'timed_out')) {
      const shown = plan && withoutArtifact(plan);
      return { outcome: 'succeeded', reason: null, message: null, exitCode, ...rest, ...(shown && { plan: shown }) };
    }
    const base = { exitCode, ...(tool && { tool }) };
    if (cause !== null) return { outcome: cause.outcome, reason: cause.reason, message: cause.message, ...base };
    if (failure instanceof AttemptFailure) {
      return { ...failed(failure.reason, this.#redactor.redactText(failure.message)), ...base };
    }
    reportUnforeseen(failure);
    return { ...failed('executor_failed', 'the executor failed; the log of the service says why'), ...base };
  }
}

function withoutArtifact({ artifact: _, ...plan }: NonNullable<Performed['plan']>) {
  return plan;
}

function failed(reason: ExecutionReason, message: string) {
  return { outcome: 'failed' as const, reason, message };
}

function outputLimit(bytes: number): StopCause {
  const message = `the attempt printed more than its limit of ${bytes} bytes`;
  return { outcome: 'limit_exceeded', reason: 'output_limit', message, urgency: 'short' };
}

function stepTimeout({ timeoutMs }: Command): StopCause {
  return {
    outcome: 'timed_out',
    reason: 'step_timeout',
    message: `a step took longer than ${timeoutMs} ms`,
    urgency: 'grace',
  };
}

async function makePlaces(root: string): Promise<Places> {
  const place = (name: string) => join(root, name);
  const places = { root, work: place('work'), service: place('service'), home: place('home'), temporary: place('tmp') };
  const { work, service, home, temporary } = places;
  for (const path of [work, service, home, temporary]) await mkdir(path, { mode: 0o700 });
  return places;
}
