import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { isReachable } from './attempt-directory.ts';
import { Channel } from './channel.ts';
import { allowedEnvironment, type Environment } from './environment.ts';
import type { Frame } from './frames.ts';
import { type Identity, takeIdentity } from './identity.ts';
import type { ExecutorMessage, WorkerMessage } from './messages.ts';
import { cookieVariable } from './process-table.ts';
import type { ExecutorUser } from './protocol.ts';
import { discoverTools, type InstalledTool } from './tools.ts';

const program = fileURLToPath(new URL('main.ts', import.meta.url));
const pipeIndex = 3;
const diagnosticBytes = 8 * 1024;
/** Threads of one identity, as a brake on fork bombs until the count of processes is looked at. */
const mostThreads = 4_096;

/** No memory of a crash goes to disk; the brake holds only an identity that is nobody else's. */
const limitScript =
  'ulimit -c 0; [ "$1" = none ] || ulimit -u "$1" 2>/dev/null || ulimit -p "$1" 2>/dev/null; shift; exec "$@"';

/** An executor process as its worker holds it: started, and waiting for one request. */
export class ExecutorHost {
  readonly identity: Identity;
  readonly cookie: string;
  readonly channel: Channel<WorkerMessage, ExecutorMessage>;
  readonly exited: Promise<number | null>;
  onMessage: (frame: Frame<ExecutorMessage>) => void = () => undefined;
  readonly #child: ChildProcess;
  readonly #toolPaths: ReadonlyMap<string, string>;
  #diagnostic = Buffer.alloc(0);

  private constructor(child: ChildProcess, identity: Identity, cookie: string, toolPaths: ReadonlyMap<string, string>) {
    this.identity = identity;
    this.cookie = cookie;
    this.#child = child;
    this.#toolPaths = toolPaths;
    this.exited = new Promise((resolve) => {
      child.once('error', () => resolve(null));
      child.once('exit', (code) => resolve(code));
    });
    const pipe = child.stdio[pipeIndex];
    if (!(pipe instanceof Duplex)) throw new Error('the executor was started without its pipe');
    this.channel = new Channel(pipe, (frame) => this.onMessage(frame));
    child.stderr?.on('data', (piece: Buffer) => {
      this.#diagnostic = Buffer.concat([this.#diagnostic, piece]).subarray(-diagnosticBytes);
    });
  }

  /** Starts an executor process: with nothing of this one's environment but an allow-list, and no descriptor but the pipe. */
  static async start(user: ExecutorUser | null | undefined): Promise<ExecutorHost> {
    const tools = await discoverTools();
    const identity = await takeIdentity(user);
    const hidden = identity.uid === process.getuid?.() ? [] : tools.filter(({ path }) => !isRunnableByAll(path));
    const descriptors = hidden.map(({ path }) => openSync(path, 'r'));
    const toolPaths = new Map(hidden.map(({ path }, index) => [path, `/proc/self/fd/${pipeIndex + 1 + index}`]));
    const cookie = randomBytes(16).toString('hex');
    try {
      return new ExecutorHost(spawnExecutor(identity, cookie, descriptors), identity, cookie, toolPaths);
    } catch (error) {
      identity.release();
      throw error;
    } finally {
      for (const descriptor of descriptors) closeSync(descriptor);
    }
  }

  /** What the executor calls a tool. One that its user cannot reach by name was handed to it open. */
  pathOf(tool: InstalledTool): string {
    return this.#toolPaths.get(tool.path) ?? tool.path;
  }

  /** Whether its user can run a tool, by name or by an open descriptor. */
  reaches(tool: InstalledTool): boolean {
    return this.identity.uid === process.getuid?.() || this.#toolPaths.has(tool.path) || isRunnableByAll(tool.path);
  }

  get diagnostic(): string {
    return this.#diagnostic.toString();
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Whether a worker that has nothing else to do stays alive for this executor. */
  hold(isHeld: boolean): void {
    const pipe = this.#child.stdio[pipeIndex];
    const parts = [this.#child, pipe, this.#child.stderr];
    for (const part of parts) {
      if (
        part &&
        'ref' in part &&
        'unref' in part &&
        typeof part.ref === 'function' &&
        typeof part.unref === 'function'
      ) {
        if (isHeld) part.ref();
        else part.unref();
      }
    }
  }
}

function spawnExecutor(identity: Identity, cookie: string, descriptors: readonly number[]): ChildProcess {
  const { uid, gid, isIsolated } = identity;
  const self = [process.execPath, program, cookie, String(uid), String(gid), isIsolated ? 'isolated' : 'shared'];
  const brake = isIsolated ? String(mostThreads) : 'none';
  return spawn('/bin/sh', ['-c', limitScript, 'sh', brake, ...self], {
    cwd: '/',
    env: { ...allowedEnvironment(process.env), ...codeCache(), [cookieVariable]: cookie },
    // A session of its own: what a terminal sends to the worker is not meant for its executors.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...descriptors],
  });
}

function isRunnableByAll(path: string): boolean {
  return isReachable(dirname(path)) && (statSync(path).mode & 0o001) !== 0;
}

/** Where Node keeps compiled code between starts; left out unless the directory is ours alone, as code is loaded from it. */
function codeCache(): Environment {
  const path = join(tmpdir(), `delivery-coordinator-code-${process.getuid?.() ?? 'all'}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(path);
  const isOurs = (mode & 0o170077) === 0o040000 && uid === process.getuid?.();
  return isOurs ? { NODE_COMPILE_CACHE: path } : {};
}
