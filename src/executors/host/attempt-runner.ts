import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redactor, SecretsTooLarge } from '#domain/shared/redaction/redactor.ts';
import type { ExecutionReason } from '#domain/shared/vocabulary/run-reasons.ts';
import { LogWriter } from '#executors/output/log-writer.ts';
import { OutputRecorder } from '#executors/output/output-recorder.ts';
import type { Attempt, AttemptSuccess, JobResult, JobSpec } from '../attempt/attempt.ts';
import { AttemptControl, type StopCause } from '../attempt/attempt-control.ts';
import { AttemptSpans } from '../attempt/attempt-spans.ts';
import { DebugLog } from '../attempt/debug-log.ts';
import { DiagnosticList } from '../attempt/diagnostic-list.ts';
import { buildEnvironment } from '../attempt/environment.ts';
import { pathsOfFiles, writtenFiles } from '../attempt/environment-files.ts';
import { JobRunner } from '../attempt/job-runner.ts';
import { LimitWatch, outputLimit } from '../attempt/limits.ts';
import { StateKeeper } from '../attempt/state-keeper.ts';
import { checkCommands } from '../command/check.ts';
import { runCommands } from '../command/command.ts';
import { checkOpenTofu } from '../opentofu/check.ts';
import { runOpenTofu } from '../opentofu/opentofu.ts';
import type { LogChunk, StateMeta } from '../protocol/request.ts';
import type { WireRequest } from '../protocol/request-schema.ts';
import type { WireResult } from '../protocol/result-schema.ts';
import type { JobPaths } from '../sandbox/job-paths.ts';
import { AttemptFailure, reportUnexpectedError } from '../shared/errors.ts';
import { AttemptNetwork } from './attempt-network.ts';
import type { HostResources } from './host-resources.ts';
import { allHiddenNote, learnRequestSecrets } from './request-secrets.ts';

/** Sends an attempt's log and state to the worker. */
export interface AttemptReporter {
  sendLog(chunk: LogChunk): void;
  /** Resolves to whether the worker stored the state durably. */
  saveState(content: Buffer, meta: StateMeta): Promise<boolean>;
}

export interface AttemptInput {
  readonly request: WireRequest;
  readonly state: Buffer | null;
  readonly artifact: Buffer | null;
  /** The files of the modules that earlier runs of the version used. */
  readonly modules: Buffer | null;
}

export interface AttemptEnd {
  readonly result: WireResult;
  readonly artifact: Buffer | null;
  readonly debugLog: Buffer | null;
  /** The files of the modules that `result` lists. */
  readonly modules: Buffer | null;
}

/** Runs one attempt from its request to its result. When `run` resolves, nothing of the attempt is left. */
export class AttemptRunner {
  readonly #input: AttemptInput;
  readonly #resources: HostResources;
  readonly #directory: string;
  readonly #redactor = new Redactor();
  readonly #diagnostics = new DiagnosticList(this.#redactor);
  readonly #debugLog = new DebugLog(this.#redactor);
  readonly #control: AttemptControl;
  readonly #limits: LimitWatch;
  readonly #writer: LogWriter;
  readonly #recorder: OutputRecorder;
  readonly #state: StateKeeper;
  readonly #network: AttemptNetwork;
  readonly #spans: AttemptSpans;
  #jobs = 0;
  /** Directories of finished jobs that are still being removed. */
  readonly #removals: Promise<void>[] = [];
  #exitCode: number | null = null;

  constructor(input: AttemptInput, resources: HostResources, name: string, reporter: AttemptReporter) {
    const { request, state } = input;
    this.#input = input;
    this.#resources = resources;
    this.#directory = join(resources.settings.directory, name);
    learnRequestSecrets(request, this.#redactor);
    this.#spans = new AttemptSpans(request.executor.kind === 'opentofu');
    this.#control = new AttemptControl(request.graceMs);
    this.#limits = new LimitWatch(request, this.#control);
    const limit = request.limits.logBytes ?? null;
    this.#writer = new LogWriter({ phase: request.phase, limit, send: (chunk) => reporter.sendLog(chunk) });
    if (this.#redactor.hidesAll) this.#writer.note(allHiddenNote);
    this.#recorder = new OutputRecorder({
      redactor: this.#redactor,
      writer: this.#writer,
      limitBytes: request.limits.outputBytes,
      onLimit: () => this.#control.stop(outputLimit(request.limits.outputBytes)),
    });
    const note = (line: string) => this.#recorder.note(line);
    this.#network = new AttemptNetwork({ request, resources, directory: this.#directory, note });
    this.#state = new StateKeeper({ initial: state, save: (content, meta) => reporter.saveState(content, meta) });
  }

  stop(cause: StopCause): void {
    this.#control.stop(cause);
  }

  acknowledgeLog(sequence: number): void {
    this.#writer.acknowledge(sequence);
  }

  /** Ends everything at once: the worker is gone, so nobody reads the log. */
  abandon(): void {
    const message = 'the worker is gone';
    this.#writer.abandon();
    this.#control.stop({ outcome: 'failed', reason: 'executor_failed', message, urgency: 'now' });
  }

  async run(): Promise<AttemptEnd> {
    let success: AttemptSuccess = {};
    let failure: unknown = null;
    try {
      success = await this.#perform();
    } catch (error) {
      failure = error;
    }
    this.#limits.close();
    this.#control.close();
    this.#network.close();
    const result = { ...this.#withDiagnostics(this.#conclude(success, failure)), spans: this.#spans.list() };
    if (result.message !== null) this.#recorder.note(result.message);
    this.#recorder.flush();
    await Promise.all([this.#removeDirectory(), this.#writer.end()]);
    const modules = result.modules ? (success.modules?.content ?? null) : null;
    return { result, artifact: success.plan?.artifact ?? null, debugLog: this.#debugLog.content(), modules };
  }

  /** The host's user owns everything in the directory, and can touch nothing else. */
  async #removeDirectory(): Promise<void> {
    await Promise.all(this.#removals);
    await rm(this.#directory, { recursive: true, force: true }).catch(reportUnexpectedError);
  }

  async #perform(): Promise<AttemptSuccess> {
    const { request, artifact, modules: content } = this.#input;
    const { launcher, settings, initCache } = this.#resources;
    await mkdir(this.#directory, { mode: 0o700 });
    const attempt: Attempt = {
      request,
      artifact,
      modules: request.modules ? { ...request.modules, content } : null,
      settings,
      redactor: this.#redactor,
      state: this.#state,
      control: this.#control,
      directory: this.#directory,
      mountedPath: (mount) => launcher.mountedPath(mount),
      toolPath: (path) => this.#resources.toolPath(path),
      openRelay: (state) => this.#network.openRelay(state),
      openModules: () => this.#network.openModules(),
      findObstacle: (url) => this.#network.findObstacle(url),
      runJob: (spec) => this.#runJob(spec),
      note: (text) => this.#recorder.note(text),
      lastErrors: () => this.#recorder.lastErrors(),
      diagnostics: this.#diagnostics,
      debugLog: this.#debugLog,
      listen: (listener) => this.#recorder.listen(listener),
    };
    const { executor, check } = request;
    if (check)
      return executor.kind === 'opentofu'
        ? checkOpenTofu(attempt, executor, initCache)
        : checkCommands(attempt, executor);
    return executor.kind === 'opentofu' ? runOpenTofu(attempt, executor, initCache) : runCommands(attempt, executor);
  }

  async #runJob<Collected>(specify: (paths: JobPaths) => JobSpec<Collected>): Promise<JobResult<Collected>> {
    const directory = join(this.#directory, `job-${++this.#jobs}`);
    const paths = this.#resources.launcher.pathsFor(directory);
    const spec = this.#withFiles(specify(paths), paths);
    const deps = {
      directory,
      control: this.#control,
      recorder: this.#recorder,
      limits: this.#limits,
      spans: this.#spans,
      launcher: this.#resources.launcher,
      environment: this.#environmentOf(spec, paths),
      relaySocket: this.#network.relay?.socketPath ?? null,
      onEnded: (code: number) => {
        this.#exitCode = code;
      },
      onRemoving: (removal: Promise<void>) => void this.#removals.push(removal),
    };
    return new JobRunner(deps, spec, paths).run();
  }

  /** Adds the files of the run's environment, for a job that gets the environment. */
  #withFiles<Collected>(spec: JobSpec<Collected>, paths: JobPaths): JobSpec<Collected> {
    const { environmentFiles = [] } = this.#input.request;
    if (spec.withoutRunEnvironment || environmentFiles.length === 0) return spec;
    return { ...spec, files: new Map([...spec.files, ...writtenFiles(environmentFiles, paths)]) };
  }

  #environmentOf<Collected>(spec: JobSpec<Collected>, paths: JobPaths) {
    const { environment, environmentFiles = [] } = this.#input.request;
    return buildEnvironment({
      given: spec.withoutRunEnvironment ? [] : [...environment, ...pathsOfFiles(environmentFiles, paths)],
      paths,
      view: this.#resources.view,
      name: this.#directory,
      proxy: spec.network.egress ? (this.#network.relay?.origin ?? null) : null,
      refuse: (line) => this.#recorder.note(line),
    });
  }

  #withDiagnostics(result: WireResult): WireResult {
    const diagnostics = this.#diagnostics.list();
    return diagnostics.length === 0 ? result : { ...result, diagnostics };
  }

  #conclude(success: AttemptSuccess, failure: unknown): WireResult {
    const exitCode = this.#exitCode;
    const lost = this.#state.failure;
    const { cause } = this.#control;
    const { plan, modules, ...rest } = success;
    const tool = this.#input.request.tool;
    const redact = (text: string) => this.#redactor.redactText(text);
    if (lost !== null) return { ...failed(lost.reason, redact(lost.message)), exitCode };
    if (failure === null && (cause === null || cause.outcome === 'canceled' || cause.outcome === 'timed_out')) {
      const listed = modules && {
        modules: { digest: modules.digest, list: [...modules.list], locks: { ...modules.locks } },
      };
      return {
        outcome: 'succeeded',
        reason: null,
        message: null,
        exitCode,
        ...rest,
        ...(plan && { plan: withoutArtifact(plan) }),
        ...listed,
      };
    }
    const base = { exitCode, ...(tool && { tool }) };
    if (cause !== null) {
      const { outcome, reason, message } = cause;
      return { outcome, reason, message: message && redact(message), ...base };
    }
    if (failure instanceof AttemptFailure) return { ...failed(failure.reason, redact(failure.message)), ...base };
    if (failure instanceof SecretsTooLarge) return { ...failed('environment_invalid', failure.message), ...base };
    reportUnexpectedError(failure);
    return { ...failed('executor_failed', "the executor failed; see the service's log"), ...base };
  }
}

function withoutArtifact({ artifact: _, ...plan }: NonNullable<AttemptSuccess['plan']>) {
  return plan;
}

function failed(reason: ExecutionReason, message: string) {
  return { outcome: 'failed' as const, reason, message };
}
