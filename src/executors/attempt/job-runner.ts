import { mkdir } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { describeDuration } from '#domain/shared/durations.ts';
import { Capture } from '#executors/output/capture.ts';
import { awaitQuiet, OutputPump } from '#executors/output/output-pump.ts';
import type { OutputRecorder } from '#executors/output/output-recorder.ts';
import { listBeneath, readBeneath } from '../sandbox/beneath.ts';
import type { EnclosedJob, Enclosure } from '../sandbox/enclosure.ts';
import type { Places } from '../sandbox/places.ts';
import type { JobResult, JobSpec, JobStep, Results } from './attempt.ts';
import type { AttemptControl, StopCause } from './attempt-control.ts';
import { AttemptFailure, codeOf, reportUnforeseen } from './attempt-error.ts';
import type { Environment } from './environment.ts';
import type { LimitWatch } from './limits.ts';
import { notStarted, refuseCarriageReturn, type Start } from './start-problem.ts';
import { writeInput } from './work-files.ts';

const killedCode = 137;
/** From killing the programs of a job until all of it is killed. */
const lastWordsMs = 1_000;
/** How long a finished job's output may take to arrive: longer only where it waits for the log. */
const drainMs = 2_000;

export interface JobDeps {
  readonly enclosure: Enclosure;
  readonly control: AttemptControl;
  readonly recorder: OutputRecorder;
  readonly limits: LimitWatch;
  readonly environment: Environment;
  readonly relaySocket: string | null;
  /** Where the job's own directory is made. */
  readonly directory: string;
  progress(title: string): void;
  /** Told the exit code of the last step, also where the attempt was stopped. */
  ended(code: number): void;
  /** Given what removes the job's place, which nothing has to wait for but the attempt's end. */
  removing(removal: Promise<void>): void;
}

/** Runs one job: lays out its files, starts it, follows its steps, and reads what they left. */
export class JobRunner<Collected> {
  readonly #deps: JobDeps;
  readonly #spec: JobSpec<Collected>;
  readonly #places: Places;
  readonly #capture: Capture;
  #timer: NodeJS.Timeout | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #code = killedCode;
  #ended = 0;
  #collected: Collected | undefined;

  constructor(deps: JobDeps, spec: JobSpec<Collected>, places: Places) {
    this.#deps = deps;
    this.#spec = spec;
    this.#places = places;
    this.#capture = new Capture(spec.captureBytes ?? 0);
  }

  /** @throws AttemptFailure where a step could not be started or the attempt was stopped */
  async run(): Promise<JobResult<Collected>> {
    const { control } = this.#deps;
    control.assertRunning();
    await this.#layOut();
    try {
      const enclosed = await this.#start();
      await this.#execute(enclosed).finally(() => this.#deps.removing(enclosed.remove().catch(reportUnforeseen)));
    } finally {
      clearTimeout(this.#timer);
      clearTimeout(this.#killTimer);
    }
    this.#deps.ended(this.#code);
    // What was asked to stop and yet ended well has done its work.
    if (this.#code !== 0 || this.#ended < this.#spec.steps.length) control.assertRunning();
    const { isTruncated } = this.#capture;
    const captured = this.#capture.content();
    return { steps: this.#ended, code: this.#code, captured, isTruncated, collected: this.#collected };
  }

  #startOf(step: JobStep | undefined): Start {
    const { files, startIn = '' } = this.#spec;
    return { program: step?.program ?? '', directory: startIn, files };
  }

  async #layOut(): Promise<void> {
    // Only the first: a step may mend what a later one starts.
    refuseCarriageReturn(this.#startOf(this.#spec.steps[0]));
    const input = join(this.#deps.directory, 'input');
    await mkdir(join(input, 'work'), { recursive: true, mode: 0o700 });
    for (const [path, content] of this.#spec.files) {
      const target = join(input, path);
      if (!target.startsWith(input + sep)) throw new AttemptFailure('files_invalid', `"${path}" leads elsewhere`);
      try {
        await mkdir(path.endsWith('/') ? target : dirname(target), { recursive: true, mode: 0o700 });
        if (!path.endsWith('/')) await writeInput(target, content);
      } catch (error) {
        throw new AttemptFailure('files_invalid', `the file "${path}" could not be written: ${codeOf(error)}`);
      }
    }
  }

  async #start(): Promise<EnclosedJob> {
    const { enclosure, directory, environment, relaySocket, limits } = this.#deps;
    const { steps, startIn = '', network, mounts = [] } = this.#spec;
    this.#announce(steps[0]);
    return enclosure.start({
      ...{ directory, steps, mounts },
      environment: { ...environment, ...this.#spec.environment?.(this.#places) },
      startIn: join(this.#places.work, startIn),
      relaySocket: network.state || network.egress ? relaySocket : null,
      wantsPipes: this.#spec.wantsPipes ?? false,
      limits: limits.values,
    });
  }

  async #execute(enclosed: EnclosedJob): Promise<void> {
    const { control, limits, recorder } = this.#deps;
    const { job } = enclosed;
    const captures = this.#spec.captureBytes !== undefined;
    const pumps = [
      new OutputPump(job.stdout, captures ? this.#capture.take : (piece) => recorder.take('stdout', piece)),
      new OutputPump(job.stderr, (piece) => recorder.take('stderr', piece)),
    ];
    const release = control.hold({ interrupt: () => job.interrupt(), kill: () => this.#kill(enclosed) });
    limits.follow(enclosed);
    try {
      await this.#follow(enclosed, pumps);
      // What ended the programs may have been a limit.
      await limits.look();
    } finally {
      limits.unfollow();
      release();
      const isClean = await enclosed.clear();
      if (!isClean) recorder.note('[processes of this attempt are still alive and cannot be killed]');
      await this.#drain(pumps);
      recorder.flush();
    }
  }

  /** The script lives on for a moment, so that what the programs remembered until now can be read. */
  #kill(enclosed: EnclosedJob): void {
    enclosed.job.killPrograms();
    this.#killTimer ??= setTimeout(() => void enclosed.clear(), lastWordsMs);
  }

  async #follow({ job }: EnclosedJob, pumps: readonly OutputPump[]): Promise<void> {
    let hasBegun = false;
    for (let event = await job.next(); event !== null; event = await job.next()) {
      const index = Number(event.details[0]);
      if (event.word === 'begin') {
        hasBegun = true;
        this.#watchTime(this.#spec.steps[index]);
      } else if (event.word === 'waiting') continue;
      else if (event.word === 'missing') throw notStarted(this.#startOf(this.#spec.steps[index]));
      else if (event.word === 'broken') throw broken(event.details.join(' '));
      else if (event.word === 'end') {
        await this.#endStep(index, Number(event.details[1]), pumps);
        const next = this.#next(index);
        if (next !== null) {
          this.#announce(next);
          job.proceed();
        } else if (index + 1 < this.#spec.steps.length) job.finish();
      } else {
        const root = job.rootDirectory;
        if (root !== null) this.#collected = await this.#collect(root);
        await this.#deps.limits.look();
        job.proceed();
      }
    }
    if (!hasBegun && this.#deps.control.cause === null) {
      throw broken(`it ended with exit code ${await job.exited}: ${this.#deps.recorder.lastErrors().trim()}`);
    }
  }

  async #endStep(index: number, code: number, pumps: readonly OutputPump[]): Promise<void> {
    clearTimeout(this.#timer);
    await awaitQuiet(pumps);
    this.#deps.recorder.flush();
    this.#code = Number.isInteger(code) && code >= 0 && code <= 255 ? code : killedCode;
    this.#ended = index + 1;
  }

  /** The step that follows, if the last one ended as expected and nobody wants the attempt to stop. */
  #next(index: number): JobStep | null {
    const { expected = [0] } = this.#spec.steps[index] ?? {};
    const goesOn = expected.includes(this.#code) && this.#deps.control.cause === null;
    return goesOn ? (this.#spec.steps[index + 1] ?? null) : null;
  }

  #announce(step: JobStep | undefined): void {
    if (step === undefined) return;
    this.#deps.progress(step.title);
    if (step.note !== undefined) this.#deps.recorder.note(step.note);
  }

  #watchTime(step: JobStep | undefined): void {
    clearTimeout(this.#timer);
    const limit = step?.timeoutMs ?? null;
    if (!step || limit === null) return;
    this.#timer = setTimeout(() => this.#deps.control.stop(stepTimeout(step, limit)), limit);
  }

  async #collect(root: string): Promise<Collected | undefined> {
    const results: Results = {
      read: (path, maximumBytes) => readBeneath(root, path, maximumBytes),
      list: async (path, most) => {
        const files = await listBeneath(root, path, most);
        return files.map((file) => file.path);
      },
    };
    return this.#spec.collect?.(results, this.#code);
  }

  /** The programs are gone, so the pipes end; a log that is behind may take its time. */
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
  return new AttemptFailure('sandbox_unavailable', `the place for the attempt could not be made: ${why}`);
}

function stepTimeout({ title }: JobStep, limitMs: number): StopCause {
  const message = `step "${title}" took longer than its timeout of ${describeDuration(limitMs / 1000)}`;
  return { outcome: 'timed_out', reason: 'step_timeout', message, urgency: 'grace' };
}
