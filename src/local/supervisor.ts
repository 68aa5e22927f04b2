import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { StartError } from './errors.ts';
import { isDoneWithin } from './lifetime.ts';
import { lastLine } from './log-file.ts';
import { withoutInspector } from './node-flags.ts';

const ReadyMessage = z.object({
  type: z.literal('ready'),
  url: z.string().optional(),
  adminUrl: z.string().optional(),
  notice: z.string().optional(),
});
export type ReadyMessage = z.output<typeof ReadyMessage>;

export type SupervisedProgram = {
  readonly name: string;
  /** Arguments of Node: the program and its command. */
  readonly arguments: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly logFile: string;
  /** Adds to the environment of restarts what the first start found out, such as its port. */
  readonly pin?: (ready: ReadyMessage) => NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
  readonly readyWithinMs?: number;
  readonly firstPauseMs?: number;
};

const stopWithinMs = 30_000;
const longestPauseMs = 30_000;
/** A process that lived this long starts again without a pause that grew before. */
const steadyAfterMs = 60_000;

/**
 * Runs a service process of this program: once it was ready, an unexpected end restarts it, after pauses that double. It
 * ends by itself when this process is gone, as its channel to it closes.
 */
export class Supervisor {
  readonly #program: SupervisedProgram;
  #child: ChildProcess | null = null;
  #environment: NodeJS.ProcessEnv;
  #isStopping = false;
  #pauseMs: number;

  constructor(program: SupervisedProgram) {
    this.#program = program;
    this.#environment = program.environment;
    this.#pauseMs = program.firstPauseMs ?? 1000;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when the process is ready. @throws StartError with its last words when it ends before */
  async start(): Promise<ReadyMessage> {
    const child = this.#spawn();
    const ready = await this.#waitUntilReady(child);
    this.#environment = { ...this.#environment, ...this.#program.pin?.(ready) };
    this.#restartWhenEnded(child, Date.now());
    return ready;
  }

  /** Asks the process to end, for a bounded time, and ends it then. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === null || hasEnded(child)) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    if (await isDoneWithin(ended, stopWithinMs)) return;
    this.#program.report(`The ${this.#program.name} did not end in time and was killed.`);
    child.kill('SIGKILL');
    await ended;
  }

  /** Ends the process without waiting for what it has under way. */
  kill(): void {
    this.#isStopping = true;
    this.#child?.kill('SIGKILL');
  }

  #spawn(): ChildProcess {
    const log = openSync(this.#program.logFile, 'a', 0o600);
    // Detached, so that Ctrl-C reaches the starting process alone, which stops things in order.
    const child = spawn(process.execPath, [withoutInspector, ...this.#program.arguments], {
      detached: true,
      env: this.#environment,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.#child = child;
    return child;
  }

  async #waitUntilReady(child: ChildProcess): Promise<ReadyMessage> {
    const { name, logFile, readyWithinMs = 90_000 } = this.#program;
    const ready = new Promise<ReadyMessage | null>((resolve) => {
      child.on('message', (message) => {
        const parsed = ReadyMessage.safeParse(message);
        if (parsed.success) resolve(parsed.data);
      });
      child.once('exit', () => resolve(null));
      child.once('error', () => resolve(null));
      setTimeout(() => resolve(null), readyWithinMs).unref();
    });
    const message = await ready;
    if (message !== null) return message;
    const isLate = !hasEnded(child);
    child.kill('SIGKILL');
    const words = isLate ? `it was not ready after ${readyWithinMs / 1000} seconds` : lastLine(logFile);
    throw new StartError(`The ${name} did not start: ${words} (${logFile}).`);
  }

  #restartWhenEnded(child: ChildProcess, startedAt: number): void {
    const restart = (code: number | null, signal: NodeJS.Signals | null) => {
      if (this.#isStopping) return;
      if (Date.now() - startedAt > steadyAfterMs) this.#pauseMs = this.#program.firstPauseMs ?? 1000;
      void this.#restart(signal ?? `exit code ${code}`);
    };
    if (hasEnded(child)) restart(child.exitCode, child.signalCode);
    else child.once('exit', restart);
  }

  async #restart(cause: string): Promise<void> {
    const pause = this.#pauseMs;
    this.#pauseMs = Math.min(pause * 2, longestPauseMs);
    this.#program.report(
      `The ${this.#program.name} ended unexpectedly (${cause}); it starts again in ${pause / 1000} s.`,
    );
    await delay(pause);
    if (this.#isStopping) return;
    try {
      await this.start();
      this.#program.report(`The ${this.#program.name} runs again.`);
    } catch (error) {
      if (!this.#isStopping) await this.#restart(error instanceof Error ? error.message : String(error));
    }
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}
