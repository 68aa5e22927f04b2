import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { allowedEnvironment } from '../attempt/environment.ts';
import { enterHostGroup } from '../groups/delegation.ts';
import type { HostSettings } from '../host/settings.ts';
import { Channel } from '../protocol/channel.ts';
import type { Frame } from '../protocol/frames.ts';
import { HostMessage, type WorkerMessage } from '../protocol/messages.ts';
import { discoverTools, type InstalledTool } from '../tools.ts';
import type { HostUser } from './host-user.ts';
import { isReadableByAll } from './reachable.ts';

const program = fileURLToPath(new URL('../host/main.ts', import.meta.url));
const pipeIndex = 3;
const diagnosticBytes = 8 * 1024;
const readyMs = 30_000;

/** Template code cannot be executed here; the message says why, and what an operator can do. */
export class ExecutorUnavailable extends Error {}

export type ReadyMessage = Extract<HostMessage, { type: 'ready' }>;

/** The executor host as its worker holds it. */
export class HostProcess {
  readonly channel: Channel<WorkerMessage, HostMessage>;
  /** Resolves with how it ended, in words. */
  readonly exited: Promise<string>;
  onMessage: (frame: Frame<HostMessage>) => void = () => undefined;
  readonly #child: ChildProcess;
  #diagnostic = Buffer.alloc(0);
  #hasClosed = false;

  private constructor(child: ChildProcess, pipe: Duplex) {
    this.#child = child;
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
      child.once('exit', (code, signal) =>
        resolve(signal === null ? `exit code ${code}` : `it was ended by ${signal}`),
      );
    });
    this.channel = new Channel<WorkerMessage, HostMessage>(pipe, HostMessage, (frame) => this.onMessage(frame));
    // A pipe that was given up for a message that does not fit leaves nothing to talk to.
    void this.channel.closed.then(() => {
      this.#hasClosed = true;
      if (this.channel.failure !== null) this.kill();
    });
    child.stderr?.on('data', (piece: Buffer) => {
      this.#diagnostic = Buffer.concat([this.#diagnostic, piece]).subarray(-diagnosticBytes);
    });
  }

  /** Starts a host, with nothing of this process's environment but an allow-list, and no descriptor but the pipe. */
  static async start(
    settings: Omit<HostSettings, 'closedTools'>,
    user: HostUser | null,
  ): Promise<{ host: HostProcess; ready: ReadyMessage }> {
    const closed = user === null ? [] : (await discoverTools()).filter(({ path }) => !isReadableByAll(path));
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
    const timer = setTimeout(() => ready.resolve(null), readyMs);
    host.channel.send({ type: 'start', settings: { ...settings, closedTools } satisfies HostSettings });
    const message = await ready.promise;
    clearTimeout(timer);
    if (message !== null) return { host, ready: message };
    host.kill();
    throw new ExecutorUnavailable(
      `The executor host did not start: ${host.takeDiagnostic().trim() || 'it said nothing'}`,
    );
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined;
  }

  /** Whether it lives and listens. */
  get isUsable(): boolean {
    return !this.hasExited && !this.#hasClosed;
  }

  /** What it said on standard error since this was asked last. */
  takeDiagnostic(): string {
    const said = this.#diagnostic.toString();
    this.#diagnostic = Buffer.alloc(0);
    return said;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

/**
 * A host is started as its user where that one can read the program; where it cannot, it becomes that user once it has
 * loaded everything. It gets a session of its own: what a terminal sends to the worker is not meant for its host.
 */
function spawnHost(user: HostUser | null, closedTools: readonly InstalledTool[]): ChildProcess {
  const starts = user !== null && isReadableByAll(process.execPath) && isReadableByAll(program);
  const drops = user === null || starts ? [] : [String(user.uid), String(user.gid)];
  const descriptors = closedTools.map(({ path }) => openSync(path, 'r'));
  try {
    return spawn(process.execPath, ['--disable-sigusr1', program, ...drops], {
      cwd: '/',
      env: allowedEnvironment(process.env),
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...descriptors],
      ...(user !== null && starts && { uid: user.uid, gid: user.gid }),
    });
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}
