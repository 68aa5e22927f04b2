import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withoutInspector } from '#local/node-flags.ts';

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

/** A process of the service, started as an operator would, that can be killed and started again. */
export class ServiceProcess {
  readonly name: string;
  readonly #command: 'api' | 'worker';
  readonly #environment: NodeJS.ProcessEnv;
  readonly #logFile: string;
  readonly #onUnexpectedEnd: (name: string, how: string) => void;
  #child: ChildProcess | undefined;
  #isStopping = false;

  constructor(options: {
    name: string;
    command: 'api' | 'worker';
    environment: NodeJS.ProcessEnv;
    logFile: string;
    onUnexpectedEnd: (name: string, how: string) => void;
  }) {
    this.name = options.name;
    this.#command = options.command;
    this.#environment = options.environment;
    this.#logFile = options.logFile;
    this.#onUnexpectedEnd = options.onUnexpectedEnd;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts the process and resolves when it is ready. @throws Error if it ends before */
  async start(): Promise<void> {
    const child = this.launch();
    const ended = once(child, 'exit').then(([code, signal]) => signal ?? `exit code ${code}`);
    const end: unknown = await Promise.race([once(child, 'message').then(() => undefined), ended]);
    if (end !== undefined) throw new Error(`${this.name} ended (${end}) before it was ready; see ${this.#logFile}`);
  }

  /** Starts the process without waiting until it is ready. */
  launch(): ChildProcess {
    const log = openSync(this.#logFile, 'a');
    const child = spawn(process.execPath, [withoutInspector, program, this.#command], {
      env: this.#environment,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.#isStopping = false;
    this.#child = child;
    child.once('exit', (code, signal) => {
      if (!this.#isStopping) this.#onUnexpectedEnd(this.name, signal ?? `exit code ${code}`);
    });
    return child;
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#isStopping = true;
    if (!child || !this.isRunning) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}
