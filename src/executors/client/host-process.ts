import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { enterHostGroup } from '../groups/delegation.ts';
import { Channel } from '../protocol/channel.ts';
import type { Frame } from '../protocol/frames.ts';
import type { HostSettings } from '../protocol/host-settings.ts';
import { HostMessage, type WorkerMessage } from '../protocol/messages.ts';
import { allowedEnvironment } from '../shared/environment.ts';
import type { HostUser } from './host-user.ts';
import type { InstalledTool } from './tools.ts';
import { isWorldReadable } from './world-permissions.ts';

const program = fileURLToPath(new URL('../host/main.ts', import.meta.url));
/** Keeps a debugger away, and gives new objects one MiB instead of sixteen, which V8 keeps even when the host is idle. */
const hostFlags = ['--disable-sigusr1', '--max-semi-space-size=1'];
const pipeIndex = 3;
const diagnosticBytes = 8 * 1024;
const readyTimeoutMs = 30_000;

/** Template code cannot run here. The message says why, and what an operator can do. */
export class ExecutorUnavailable extends Error {}

export type ReadyMessage = Extract<HostMessage, { type: 'ready' }>;

/** The executor host's process, as its worker sees it. */
export class HostProcess {
  readonly channel: Channel<WorkerMessage, HostMessage>;
  /** Resolves to a description of how the process ended. */
  readonly exited: Promise<string>;
  onMessage: (frame: Frame<HostMessage>) => void = () => undefined;
  readonly #child: ChildProcess;
  #diagnostic = Buffer.alloc(0);
  #hasClosed = false;

  private constructor(child: ChildProcess, pipe: Duplex) {
    this.#child = child;
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    this.channel = new Channel<WorkerMessage, HostMessage>(pipe, HostMessage, (frame) => this.onMessage(frame));
    // A channel that failed on an invalid message cannot be used again, so the host is of no use.
    void this.channel.closed.then(() => {
      this.#hasClosed = true;
      if (this.channel.failure !== null) this.kill();
    });
    child.stderr?.on('data', (piece: Buffer) => {
      this.#diagnostic = Buffer.concat([this.#diagnostic, piece]).subarray(-diagnosticBytes);
    });
  }

  /** Starts a host with an allow-list of this process's environment, and with no descriptor but the pipe and the closed tools. */
  static async start(
    settings: Omit<HostSettings, 'closedTools'>,
    user: HostUser | null,
    closed: readonly InstalledTool[],
  ): Promise<{ host: HostProcess; ready: ReadyMessage }> {
    const child = spawnHost(user, closed);
    const closedTools = closed.map(({ path }, index) => ({ path, descriptor: pipeIndex + 1 + index }));
    const pipe = child.stdio[pipeIndex];
    if (!(pipe instanceof Duplex)) throw new Error('the executor host was started without its pipe');
    const host = new HostProcess(child, pipe);
    const ready = Promise.withResolvers<ReadyMessage | null>();
    host.onMessage = ({ message }) => {
      if (message.type === 'ready') ready.resolve(message);
    };
    void host.exited.then(() => ready.resolve(null));
    if (settings.groups !== null && child.pid !== undefined) enterHostGroup(settings.groups, child.pid);
    const timer = setTimeout(() => ready.resolve(null), readyTimeoutMs);
    host.channel.send({ type: 'start', settings: { ...settings, closedTools } satisfies HostSettings });
    const message = await ready.promise;
    clearTimeout(timer);
    if (message !== null) return { host, ready: message };
    host.kill();
    throw new ExecutorUnavailable(
      `The executor host did not start: ${host.takeDiagnostic().trim() || 'it printed nothing'}`,
    );
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined;
  }

  /** Whether the process lives and its channel is open. */
  get isUsable(): boolean {
    return !this.hasExited && !this.#hasClosed;
  }

  /** Returns what the host has written to standard error since the last call. */
  takeDiagnostic(): string {
    const diagnostic = this.#diagnostic.toString();
    this.#diagnostic = Buffer.alloc(0);
    return diagnostic;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/**
 * Starts the host as its own user if that user can read the program. Otherwise, and if the worker has a cache of compiled code, the host
 * switches to that user once it has loaded everything: only the worker's user may read and write the cache, because the worker would
 * execute what others write there. The host gets a session of its own, so that a terminal's signals reach only the worker.
 */
function spawnHost(user: HostUser | null, closedTools: readonly InstalledTool[]): ChildProcess {
  const { NODE_COMPILE_CACHE } = process.env;
  const startsAsUser =
    user !== null && !NODE_COMPILE_CACHE && isWorldReadable(process.execPath) && isWorldReadable(program);
  const switchArguments = user === null || startsAsUser ? [] : [String(user.uid), String(user.gid)];
  const descriptors = closedTools.map(({ path }) => openSync(path, 'r'));
  try {
    return spawn(process.execPath, [...hostFlags, program, ...switchArguments], {
      cwd: '/',
      env: { ...allowedEnvironment(process.env), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...descriptors],
      ...(user !== null && startsAsUser && { uid: user.uid, gid: user.gid }),
    });
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}
