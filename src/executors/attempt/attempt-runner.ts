import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionReason } from '#domain/runs/model.ts';
import { LogWriter } from '#executors/output/log-writer.ts';
import { OutputRecorder } from '#executors/output/output-recorder.ts';
import { runCommands } from '../command/command.ts';
import type { HostPlace } from '../host/host-place.ts';
import { Relay, type StateHandler } from '../host/relay.ts';
import { runOpenTofu } from '../opentofu/opentofu.ts';
import { StateKeeper } from '../opentofu/state-keeper.ts';
import type { WireRequest, WireResult } from '../protocol/messages.ts';
import type { LogChunk, Progress, StateMeta } from '../protocol/request.ts';
import { Redactor } from '../redaction/redaction.ts';
import type { Places } from '../sandbox/places.ts';
import { describeBytes } from './amounts.ts';
import type { Attempt, JobResult, JobSpec, Performed } from './attempt.ts';
import { AttemptControl, type StopCause } from './attempt-control.ts';
import { AttemptFailure, reportUnforeseen } from './attempt-error.ts';
import { buildEnvironment } from './environment.ts';
import { JobRunner } from './job-runner.ts';
import { LimitWatch } from './limits.ts';

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
}

/** One attempt from its request to its result. Whatever happens, nothing of it is left when `run` resolves. */
export class AttemptRunner {
  readonly #input: AttemptInput;
  readonly #place: HostPlace;
  readonly #directory: string;
  readonly #redactor = new Redactor();
  readonly #control: AttemptControl;
  readonly #limits: LimitWatch;
  readonly #writer: LogWriter;
  readonly #recorder: OutputRecorder;
  readonly #state: StateKeeper;
  readonly #worker: AttemptWorker;
  #relay: Relay | null = null;
  #jobs = 0;
  /** What removes the places of jobs that have ended. */
  readonly #removals: Promise<void>[] = [];
  #exitCode: number | null = null;

  constructor(input: AttemptInput, place: HostPlace, name: string, worker: AttemptWorker) {
    const { request, state } = input;
    this.#input = input;
    this.#place = place;
    this.#worker = worker;
    this.#directory = join(place.settings.directory, name);
    this.#learnSecrets();
    this.#control = new AttemptControl(request.graceMs);
    this.#limits = new LimitWatch(request, this.#control);
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
  abandon(): void {
    const message = 'the worker is gone';
    this.#writer.abandon();
    this.#control.stop({ outcome: 'failed', reason: 'executor_failed', message, urgency: 'now' });
  }

  async run(): Promise<AttemptEnd> {
    let performed: Performed = {};
    let failure: unknown = null;
    try {
      performed = await this.#perform();
    } catch (error) {
      failure = error;
    }
    this.#limits.close();
    this.#control.close();
    this.#relay?.close();
    const result = this.#conclude(performed, failure);
    if (result.message !== null) this.#recorder.note(result.message);
    this.#recorder.flush();
    await Promise.all([this.#removePlace(), this.#writer.end()]);
    return { result, artifact: performed.plan?.artifact ?? null, unsaved: this.#state.unsaved };
  }

  /** By the host's own user, which owns everything in it and may touch nothing else. */
  async #removePlace(): Promise<void> {
    await Promise.all(this.#removals);
    await rm(this.#directory, { recursive: true, force: true }).catch(reportUnforeseen);
  }

  #learnSecrets(): void {
    const { variables, sensitiveVariables, environment } = this.#input.request;
    for (const name of sensitiveVariables) this.#redactor.learn(variables[name] ?? null);
    for (const { value, sensitive } of environment) if (sensitive) this.#redactor.learn(value);
  }

  async #perform(): Promise<Performed> {
    const { request, artifact } = this.#input;
    const { enclosure, settings, initializations } = this.#place;
    await mkdir(this.#directory, { mode: 0o700 });
    const attempt: Attempt = {
      ...{ request, artifact, settings, redactor: this.#redactor, state: this.#state, control: this.#control },
      directory: this.#directory,
      see: (mount) => enclosure.see(mount),
      toolPath: (path) => this.#place.toolPath(path),
      openRelay: (state) => this.#openRelay(state),
      runJob: (spec) => this.#runJob(spec),
      note: (text) => this.#recorder.note(text),
      lastErrors: () => this.#recorder.lastErrors(),
    };
    const { executor } = request;
    return executor.kind === 'opentofu'
      ? runOpenTofu(attempt, executor, initializations)
      : runCommands(attempt, executor);
  }

  async #openRelay(state: StateHandler | null): Promise<string> {
    const { request } = this.#input;
    const proxy = this.#place.openProxy(request.egress, (line) => this.#recorder.note(line));
    this.#relay ??= await Relay.open({ socketPath: this.#place.nextSocket(), state, proxy });
    return this.#relay.origin;
  }

  async #runJob<Collected>(specify: (places: Places) => JobSpec<Collected>): Promise<JobResult<Collected>> {
    const directory = join(this.#directory, `job-${++this.#jobs}`);
    const places = this.#place.enclosure.placesOf(directory);
    const spec = specify(places);
    const deps = {
      ...{ directory, control: this.#control, recorder: this.#recorder, limits: this.#limits },
      enclosure: this.#place.enclosure,
      environment: this.#environmentOf(spec, places),
      relaySocket: this.#relay?.socketPath ?? null,
      progress: (step: string) => this.#worker.sendProgress({ step, time: new Date().toISOString() }),
      ended: (code: number) => {
        this.#exitCode = code;
      },
      removing: (removal: Promise<void>) => void this.#removals.push(removal),
    };
    return new JobRunner(deps, spec, places).run();
  }

  #environmentOf<Collected>(spec: JobSpec<Collected>, places: Places) {
    const { environment } = this.#input.request;
    return buildEnvironment({
      given: spec.isBare ? [] : environment,
      ...{ places, view: this.#place.view, name: this.#directory },
      proxy: spec.network.egress ? (this.#relay?.origin ?? null) : null,
      refuse: (line) => this.#recorder.note(line),
    });
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
  const message = `the attempt printed more than its limit of ${describeBytes(bytes)}`;
  return { outcome: 'limit_exceeded', reason: 'output_limit', message, urgency: 'short' };
}
