import { type ChildProcess, fork } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Isolation } from '#executors/client/executor.ts';
import type { ExecutionResult, LogChunk, StateMeta } from '#executors/protocol/request.ts';
import { type ExecutorChoice, makeRequest, type Ran, RecordingSink, type TestRequest, wrapScript } from '../support.ts';
import type { FromWorker, ToWorker, WorkerStart } from './worker-main.ts';

const program = join(import.meta.dirname, 'worker-main.ts');

export interface WorkerOptions extends ExecutorChoice {
  /** Null: the user of these tests. */
  readonly user?: { readonly uid: number; readonly gid: number } | null;
  readonly environment?: Readonly<Record<string, string>>;
  /** The home of an earlier worker; missing: a new one. */
  readonly home?: string;
}

/** The users that workers run as; each promise holds for both. Only root can start the second one. */
export const isRoot = process.getuid?.() === 0;
export const ordinaryUser = { uid: 65_432, gid: 65_432 };
export const workerUsers: readonly { readonly as: string; readonly user: WorkerOptions['user'] }[] = isRoot
  ? [
      { as: 'root', user: null },
      { as: 'an ordinary user', user: ordinaryUser },
    ]
  : [{ as: 'the user of these tests', user: null }];

/** A worker in a process of its own, which tests can kill, inspect, and run as another user. */
export class WorkerProcess {
  /** The worker's home, which contains the executor's directory and belongs to the worker's user. */
  readonly home: string;
  readonly directory: string;
  readonly isolation: Isolation;
  readonly hostPid: number;
  readonly #child: ChildProcess;
  readonly #sinks = new Map<number, { sink: RecordingSink; done: (result: ExecutionResult) => void }>();
  #runs = 0;

  private constructor(child: ChildProcess, home: string, ready: FromWorker & { type: 'ready' }) {
    this.#child = child;
    this.home = home;
    this.directory = join(home, 'work');
    this.isolation = ready.isolation;
    this.hostPid = ready.hostPid ?? 0;
    child.on('message', (message: FromWorker) => this.#receive(message));
  }

  static async start(options: WorkerOptions = {}): Promise<WorkerProcess> {
    const { user = null, environment = {}, isolation = 'sandbox', usesGroups = true } = options;
    const home = options.home ?? makeHome(user);
    const start: WorkerStart = { directory: join(home, 'work'), isolation, usesGroups };
    const child = fork(program, [JSON.stringify(start)], {
      execArgv: ['--disable-sigusr1'],
      serialization: 'advanced',
      ...user,
      env: { PATH: process.env['PATH'], HOME: home, NODE_COMPILE_CACHE: openCodeCache(user), ...environment },
    });
    const ready = await new Promise<FromWorker & { type: 'ready' }>((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
    });
    return new WorkerProcess(child, home, ready);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Like `run` in `support.ts`, at this worker. */
  run(changes: Parameters<typeof makeRequest>[0], sink = new RecordingSink(), signal?: AbortSignal): Promise<Ran> {
    const { workRoot: _, choice: __, ...request } = makeRequest(changes);
    const id = ++this.#runs;
    signal?.addEventListener('abort', () => this.#send({ type: 'cancel', id }));
    return new Promise((resolve) => {
      this.#sinks.set(id, { sink, done: (result) => resolve({ result, sink }) });
      this.#send({ type: 'run', id, request });
    });
  }

  /** Like `runScript` in `support.ts`, at this worker. */
  runScript(
    script: string,
    changes: Partial<TestRequest> = {},
    sink?: RecordingSink,
    signal?: AbortSignal,
  ): Promise<Ran> {
    const executor = wrapScript(script);
    return this.run({ workRoot: this.directory, executor, phase: 'detect', ...changes }, sink, signal);
  }

  kill(): Promise<void> {
    return this.#end(() => this.#child.kill('SIGKILL'));
  }

  /** Ends the worker in order, and removes its home. */
  async close(): Promise<void> {
    await this.#end(() => this.#child.disconnect());
    rmSync(this.home, { recursive: true, force: true });
  }

  async #end(how: () => void): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    how();
    await exited;
  }

  #send(message: ToWorker): void {
    this.#child.send(message);
  }

  #receive(message: FromWorker): void {
    if (message.type === 'ready') return;
    const { sink, done } = this.#sinks.get(message.id) ?? {};
    const [first, second] = message.values;
    if (message.type === 'result') done?.(first as ExecutionResult);
    else if (message.type === 'log') void sink?.log(first as LogChunk);
    else void sink?.state(first as Buffer, second as StateMeta);
  }
}

/** The directory of compiled code for the workers of a user: what root's processes compiled is closed to other users. */
function openCodeCache(user: WorkerOptions['user']): string | undefined {
  if (!user) return process.env['NODE_COMPILE_CACHE'];
  const directory = join(inject('scratchDirectory'), `code-of-${user.uid}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chownSync(directory, user.uid, user.gid);
  return directory;
}

function makeHome(user: WorkerOptions['user']): string {
  const home = mkdtempSync(join(tmpdir(), 'coordinator-test-worker-'));
  chmodSync(home, 0o711);
  mkdirSync(join(home, 'work'), { mode: 0o700 });
  if (user) for (const path of [home, join(home, 'work')]) chownSync(path, user.uid, user.gid);
  return home;
}
