import { mkdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { describeDuration } from '#domain/shared/values/durations.ts';
import { OutputCapture } from '#executors/output/capture.ts';
import { awaitIdleOutput, OutputPump } from '#executors/output/output-pump.ts';
import type { OutputRecorder } from '#executors/output/output-recorder.ts';
import type { JobLauncher, LaunchedJob } from '../sandbox/job-launcher.ts';
import type { JobPaths } from '../sandbox/job-paths.ts';
import { listUntrustedFiles, readEndOfUntrustedFile, readUntrustedFile } from '../sandbox/untrusted-files.ts';
import type { Environment } from '../shared/environment.ts';
import { AttemptFailure, codeOf, reportUnexpectedError } from '../shared/errors.ts';
import type { JobResult, JobSpec, JobStep, Results } from './attempt.ts';
import type { AttemptControl, StopCause } from './attempt-control.ts';
import type { AttemptSpans } from './attempt-spans.ts';
import type { LimitWatch } from './limits.ts';
import { type ProgramStart, programNotStarted, rejectCarriageReturn } from './start-errors.ts';
import { isJobLink, type JobFile, writeInput } from './work-files.ts';

const killedCode = 137;
/** How long a job's script outlives its killed programs. */
const scriptKillDelayMs = 1_000;
/** How long a finished job's output may take to arrive. Time spent waiting for the log does not count. */
const drainMs = 2_000;

interface JobDeps {
  readonly launcher: JobLauncher;
  readonly control: AttemptControl;
  readonly recorder: OutputRecorder;
  readonly limits: LimitWatch;
  readonly spans: AttemptSpans;
  readonly environment: Environment;
  readonly relaySocket: string | null;
  /** The job's own directory on the host. */
  readonly directory: string;
  /** Receives the exit code of the last step, even if the attempt was stopped. */
  onEnded(code: number): void;
  /** Receives the removal of the job's directory. Only the attempt's end has to wait for it. */
  onRemoving(removal: Promise<void>): void;
}

/** Runs one job: writes its files, starts it, follows its steps, and reads what they left behind. */
export class JobRunner<Collected> {
  readonly #deps: JobDeps;
  readonly #spec: JobSpec<Collected>;
  readonly #paths: JobPaths;
  readonly #capture: OutputCapture;
  readonly #endPart: ReturnType<AttemptSpans['startJob']>;
  #timer: NodeJS.Timeout | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #code = killedCode;
  #ended = 0;
  #collected: Collected | undefined;

  constructor(deps: JobDeps, spec: JobSpec<Collected>, paths: JobPaths) {
    this.#deps = deps;
    this.#spec = spec;
    this.#paths = paths;
    this.#endPart = deps.spans.startJob(spec.steps);
    this.#capture = new OutputCapture(spec.captureBytes ?? 0);
  }

  /** @throws AttemptFailure if a step could not be started or the attempt was stopped */
  async run(): Promise<JobResult<Collected>> {
    const { control } = this.#deps;
    control.assertRunning();
    await this.#layOut();
    try {
      const launched = await this.#start();
      await this.#execute(launched).finally(() =>
        this.#deps.onRemoving(launched.remove().catch(reportUnexpectedError)),
      );
    } finally {
      clearTimeout(this.#timer);
      clearTimeout(this.#killTimer);
    }
    if (this.#ended > 0) this.#endPart('results', this.#ended - 1);
    this.#deps.onEnded(this.#code);
    // A job that was asked to stop but succeeded anyway counts as done.
    if (this.#code !== 0 || this.#ended < this.#spec.steps.length) control.assertRunning();
    const { isTruncated } = this.#capture;
    const captured = this.#capture.content();
    return { steps: this.#ended, code: this.#code, captured, isTruncated, collected: this.#collected };
  }

  #startOf(step: JobStep | undefined): ProgramStart {
    const { files, startIn = '' } = this.#spec;
    return { program: step?.program ?? '', directory: startIn, files };
  }

  async #layOut(): Promise<void> {
    // Only the first step is checked: a step may repair the program that a later step starts.
    rejectCarriageReturn(this.#startOf(this.#spec.steps[0]));
    const input = join(this.#deps.directory, 'input');
    await mkdir(join(input, 'work'), { recursive: true, mode: 0o700 });
    const files = [...this.#spec.files];
    // Links come last, so that nothing is written through one.
    for (const [path, file] of files.filter(([, each]) => !isJobLink(each))) await writeBelow(input, path, file);
    for (const [path, link] of files.filter(([, each]) => isJobLink(each))) await writeBelow(input, path, link);
  }

  async #start(): Promise<LaunchedJob> {
    const { launcher, directory, environment, relaySocket, limits } = this.#deps;
    const { steps, startIn = '', network, mounts = [] } = this.#spec;
    this.#logStart(steps[0]);
    return launcher.start({
      directory,
      steps,
      mounts,
      environment: { ...environment, ...this.#spec.environment?.(this.#paths) },
      startIn: join(this.#paths.work, startIn),
      relaySocket: network.state || network.egress ? relaySocket : null,
      wantsPipes: this.#spec.wantsPipes ?? false,
      limits: limits.values,
    });
  }

  async #execute(launched: LaunchedJob): Promise<void> {
    const { control, limits, recorder } = this.#deps;
    const { job } = launched;
    const captures = this.#spec.captureBytes !== undefined;
    const pumps = [
      new OutputPump(job.stdout, captures ? this.#capture.take : (piece) => recorder.take('stdout', piece)),
      new OutputPump(job.stderr, (piece) => recorder.take('stderr', piece)),
    ];
    const release = control.attach({ interrupt: () => job.interrupt(), kill: () => this.#kill(launched) });
    limits.watch(launched);
    try {
      await this.#follow(launched, pumps);
      // A limit may be what ended the programs.
      await limits.check();
    } finally {
      limits.unwatch();
      release();
      const isClean = await launched.clear();
      if (!isClean) recorder.note('[processes of this attempt are still alive and cannot be killed]');
      await this.#drain(pumps);
      recorder.flush();
    }
  }

  /** Kills the programs, and the script a moment later, so that the state they have written can still be read. */
  #kill(launched: LaunchedJob): void {
    launched.job.killPrograms();
    this.#killTimer ??= setTimeout(() => void launched.clear(), scriptKillDelayMs);
  }

  async #follow({ job }: LaunchedJob, pumps: readonly OutputPump[]): Promise<void> {
    let hasBegun = false;
    for (let event = await job.next(); event !== null; event = await job.next()) {
      const index = Number(event.details[0]);
      if (event.name === 'begin') {
        hasBegun = true;
        this.#endPart('sandbox', index);
        this.#watchTime(this.#spec.steps[index]);
      } else if (event.name === 'waiting') continue;
      else if (event.name === 'missing') throw programNotStarted(this.#startOf(this.#spec.steps[index]));
      else if (event.name === 'broken') throw broken(event.details.join(' '));
      else if (event.name === 'end') {
        await this.#endStep(index, Number(event.details[1]), pumps);
        const next = this.#next(index);
        if (next !== null) {
          this.#logStart(next);
          job.proceed();
        } else if (index + 1 < this.#spec.steps.length) job.finish();
      } else {
        const root = job.rootDirectory;
        if (root !== null) this.#collected = await this.#collect(root);
        await this.#deps.limits.check();
        job.proceed();
      }
    }
    if (!hasBegun && this.#deps.control.cause === null) {
      throw broken(`it ended with exit code ${await job.exited}: ${this.#deps.recorder.lastErrors().trim()}`);
    }
  }

  async #endStep(index: number, code: number, pumps: readonly OutputPump[]): Promise<void> {
    clearTimeout(this.#timer);
    this.#endPart('program', index);
    await awaitIdleOutput(pumps);
    this.#deps.recorder.flush();
    this.#code = Number.isInteger(code) && code >= 0 && code <= 255 ? code : killedCode;
    this.#ended = index + 1;
  }

  /** The next step, if the last one ended as expected and the attempt was not stopped. */
  #next(index: number): JobStep | null {
    const { expected = [0] } = this.#spec.steps[index] ?? {};
    const goesOn = expected.includes(this.#code) && this.#deps.control.cause === null;
    return goesOn ? (this.#spec.steps[index + 1] ?? null) : null;
  }

  #logStart(step: JobStep | undefined): void {
    if (step?.note !== undefined) this.#deps.recorder.note(step.note);
  }

  #watchTime(step: JobStep | undefined): void {
    clearTimeout(this.#timer);
    const limit = step?.timeoutMs ?? null;
    if (!step || limit === null) return;
    this.#timer = setTimeout(() => this.#deps.control.stop(stepTimeout(step, limit)), limit);
  }

  async #collect(root: string): Promise<Collected | undefined> {
    const results: Results = {
      read: (path, maximumBytes) => readUntrustedFile(root, path, maximumBytes),
      readEnd: (path, maximumBytes) => readEndOfUntrustedFile(root, path, maximumBytes),
      list: async (path, maxFiles) => {
        const files = await listUntrustedFiles(root, path, maxFiles);
        return files.map((file) => file.path);
      },
    };
    return this.#spec.collect?.(results, this.#code);
  }

  /** Waits for the ends of the pipes, which follow the end of the programs. A log that is behind may take its time. */
  async #drain(pumps: readonly OutputPump[]): Promise<void> {
    const ended = Promise.all(pumps.map((pump) => pump.ended)).then(() => true);
    for (;;) {
      const timeout = new Promise<false>((resolve) => setTimeout(() => resolve(false), drainMs).unref());
      if (await Promise.race([ended, timeout])) return;
      if (pumps.some(({ state }) => state.isTaking)) continue;
      for (const pump of pumps) pump.close();
    }
  }
}

function broken(why: string): AttemptFailure {
  return new AttemptFailure('sandbox_unavailable', `the job could not be started: ${why}`);
}

function stepTimeout({ title }: JobStep, limitMs: number): StopCause {
  const message = `step "${title}" took longer than its timeout of ${describeDuration(limitMs / 1000)}`;
  return { outcome: 'timed_out', reason: 'step_timeout', message, urgency: 'grace' };
}

/** @throws AttemptFailure `files_invalid` */
async function writeBelow(input: string, path: string, file: JobFile): Promise<void> {
  const target = join(input, path);
  if (!target.startsWith(input + sep))
    throw new AttemptFailure('files_invalid', `"${path}" is outside the job's directory`);
  try {
    await mkdir(path.endsWith('/') ? target : dirname(target), { recursive: true, mode: 0o700 });
    if (!path.endsWith('/')) await writeInput(target, file);
  } catch (error) {
    throw new AttemptFailure('files_invalid', `the file "${path}" could not be written: ${codeOf(error)}`);
  }
}
