import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { StartError } from './errors.ts';
import { type SettingsMessage, settingsFollow } from './following-settings.ts';
import { finishesWithin, startWithinMs } from './lifetime.ts';
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
  /** Further environment variables, which the process waits for (`receiveSettings`) while it loads its code. */
  readonly settings?: Promise<Readonly<Record<string, string>>>;
  readonly logFile: string;
  /** Environment variables for restarts that follow from the first start, such as its port. */
  readonly pin?: (ready: ReadyMessage) => NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
  readonly readyWithinMs?: number;
  /** The interval of reports that the process is not ready yet. */
  readonly saysWaitingAfterMs?: number;
  readonly firstPauseMs?: number;
};

const stopWithinMs = 30_000;
const maxPauseMs = 30_000;
/** After a process has run this long, the pause before its next restart is short again. */
const stableAfterMs = 60_000;

/**
 * Runs a service process of this program. A process that was ready is restarted when it ends unexpectedly, after a pause that doubles each
 * time. It stops by itself when this process ends, because its IPC channel closes.
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

  /**
   * Resolves when the process is ready.
   * @throws StartError with the last line of its log if it ends before that; whatever the promise of its settings rejects with
   */
  async start(): Promise<ReadyMessage> {
    const child = this.#spawn();
    const [ready] = await Promise.all([this.#waitUntilReady(child), this.#sendSettings(child)]);
    this.#environment = { ...this.#environment, ...this.#program.pin?.(ready) };
    this.#restartWhenEnded(child, Date.now());
    return ready;
  }

  /** Asks the process to stop, and kills it if it does not stop in time. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === null || hasEnded(child)) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    if (await finishesWithin(ended, stopWithinMs)) return;
    this.#program.report(`The ${this.#program.name} did not stop in time and was killed.`);
    child.kill('SIGKILL');
    await ended;
  }

  /** Kills the process without waiting for its work. */
  kill(): void {
    this.#isStopping = true;
    this.#child?.kill('SIGKILL');
  }

  async #sendSettings(child: ChildProcess): Promise<void> {
    const settings = await this.#program.settings;
    if (settings === undefined) return;
    // An error means that the process has ended, which `#waitUntilReady` reports.
    child.send({ type: 'settings', settings } satisfies SettingsMessage, () => {});
  }

  #spawn(): ChildProcess {
    const log = openSync(this.#program.logFile, 'a', 0o600);
    // Detached, so that Ctrl-C reaches only this process, which stops everything in order.
    const child = spawn(process.execPath, [withoutInspector, ...this.#program.arguments], {
      detached: true,
      env: { ...this.#environment, ...(this.#program.settings && settingsFollow) },
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.#child = child;
    return child;
  }

  async #waitUntilReady(child: ChildProcess): Promise<ReadyMessage> {
    const { name, logFile, report, readyWithinMs = startWithinMs, saysWaitingAfterMs = 30_000 } = this.#program;
    const waiting = setInterval(
      () => report(`Still waiting for the ${name}: it runs, but is not ready yet …`),
      saysWaitingAfterMs,
    );
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
    clearInterval(waiting);
    if (message !== null) return message;
    const isLate = !hasEnded(child);
    child.kill('SIGKILL');
    const reason = isLate ? `it was not ready after ${readyWithinMs / 1000} seconds` : lastLine(logFile);
    throw new StartError(`The ${name} did not start: ${reason} (${logFile}).`);
  }

  #restartWhenEnded(child: ChildProcess, startedAt: number): void {
    const restart = (code: number | null, signal: NodeJS.Signals | null) => {
      if (this.#isStopping) return;
      if (Date.now() - startedAt > stableAfterMs) this.#pauseMs = this.#program.firstPauseMs ?? 1000;
      void this.#restart(signal ?? `exit code ${code}`);
    };
    if (hasEnded(child)) restart(child.exitCode, child.signalCode);
    else child.once('exit', restart);
  }

  async #restart(cause: string): Promise<void> {
    const pause = this.#pauseMs;
    this.#pauseMs = Math.min(pause * 2, maxPauseMs);
    this.#program.report(`The ${this.#program.name} ended unexpectedly (${cause}); restarting in ${pause / 1000} s.`);
    await delay(pause);
    if (this.#isStopping) return;
    try {
      await this.start();
      this.#program.report(`The ${this.#program.name} is running again.`);
    } catch (error) {
      if (!this.#isStopping) await this.#restart(error instanceof Error ? error.message : String(error));
    }
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

const maxTail = 64 * 1024;

/** The last line of a program's log. If the line is structured, its message. */
function lastLine(logFile: string): string {
  if (!existsSync(logFile)) return 'the log is empty';
  const lines = readFileSync(logFile, 'utf8').slice(-maxTail).trim().split('\n');
  const line = lines.findLast((candidate) => candidate.trim() !== '') ?? 'the log is empty';
  return (readMessage(line) ?? line).replace(/\.$/, '');
}

function readMessage(line: string): string | null {
  try {
    const entry: unknown = JSON.parse(line);
    const hasMessage = typeof entry === 'object' && entry !== null && 'msg' in entry;
    return hasMessage ? String(entry.msg) : null;
  } catch {
    // The line is not structured.
    return null;
  }
}
