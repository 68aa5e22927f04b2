import { closeSync, existsSync, readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { codeOf, reportUnforeseen } from './attempt-error.ts';
import { AttemptRunner, type AttemptWorker } from './attempt-runner.ts';
import { Channel } from './channel.ts';
import type { Frame } from './frames.ts';
import type { ExecutorMessage, WorkerMessage } from './messages.ts';
import type { AttemptMark } from './process-table.ts';
import { listNames, removeDirectory } from './work-files.ts';

/**
 * An executor process: an attempt of one run, and at most the one that follows it at once, under a user that may read
 * nothing of the service's. Everything it is told comes by the pipe at descriptor 3; when that closes, the worker is gone
 * or done with it, and so is all that an attempt started.
 *
 * Arguments: cookie, uid, gid, and whether the identity is this attempt's own (`isolated` or `shared`).
 */

const pipeDescriptor = 3;
const exitCodes = { done: 0, abandoned: 3 } as const;

/** Everything is loaded by now: from here on nothing of the service's needs to be readable. */
function dropPrivileges(uid: number, gid: number): void {
  flushCompileCache();
  process.umask(0o077);
  if (process.getuid?.() === uid) return;
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid || process.geteuid?.() !== uid || process.getegid?.() !== gid) {
    throw new Error('the executor could not change its user');
  }
}

/**
 * Closes what a program further up left open for its children. What Node itself opens, and what this process is meant to
 * have, is not passed on when a program is started; only Linux tells which is which.
 */
function closeStrayDescriptors(): void {
  const closesOnExec = 0o2000000;
  for (const name of listNames('/proc/self/fdinfo')) {
    const descriptor = Number(name);
    if (descriptor <= pipeDescriptor) continue;
    try {
      const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'latin1'))?.[1] ?? '';
      if ((Number.parseInt(flags, 8) & closesOnExec) === 0) closeSync(descriptor);
    } catch (error) {
      // The descriptor by which the list itself was read is gone by now.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** The worker's end of the pipe, and the attempt at this one, if there is one just now. */
class Executor {
  readonly #channel: Channel<ExecutorMessage, WorkerMessage>;
  readonly #mark: AttemptMark;
  readonly #saves = new Map<number, (isSaved: boolean) => void>();
  #state: Buffer | null = null;
  #artifact: Buffer | null = null;
  #runner: AttemptRunner | null = null;
  #directory: string | null = null;
  #isAbandoned = false;

  constructor(mark: AttemptMark) {
    this.#mark = mark;
    const pipe = new Socket({ fd: pipeDescriptor, readable: true, writable: true });
    this.#channel = new Channel(pipe, (frame) => this.#receive(frame));
    void this.#channel.closed.then(() => this.#abandon());
  }

  #receive({ message, body }: Frame<WorkerMessage>): void {
    switch (message.type) {
      case 'state':
        this.#state = body;
        break;
      case 'artifact':
        this.#artifact = body;
        break;
      case 'request':
        void this.#run(message.request);
        break;
      case 'cancel':
        this.#runner?.stop({
          outcome: 'canceled',
          reason: 'canceled',
          message: 'the attempt was canceled',
          urgency: 'grace',
        });
        break;
      case 'ack':
        this.#acknowledge(message.of, message.id, message.ok);
    }
  }

  #acknowledge(of: 'log' | 'state', id: number, ok: boolean): void {
    if (of === 'state') {
      this.#saves.get(id)?.(ok);
      this.#saves.delete(id);
      return;
    }
    if (!ok) {
      const message = 'the log could not be saved';
      this.#runner?.stop({ outcome: 'failed', reason: 'logs_not_saved', message, urgency: 'grace' });
    }
    this.#runner?.acknowledgeLog(id);
  }

  async #run(request: Extract<WorkerMessage, { type: 'request' }>['request']): Promise<void> {
    this.#directory = request.directory;
    const mark = { ...this.#mark, directory: request.directory };
    const input = { request, state: this.#state, artifact: this.#artifact };
    this.#runner = new AttemptRunner(input, mark, this.#worker());
    const { result, artifact, unsaved, isClean } = await this.#runner.run();
    if (this.#isAbandoned) return;
    await removeDirectory(request.directory).catch(reportUnforeseen);
    const hasCleaned = isClean && !existsSync(request.directory);
    this.#forget();
    if (artifact !== null) this.#channel.send({ type: 'artifact' }, artifact);
    if (unsaved !== null) this.#channel.send({ type: 'unsaved' }, unsaved);
    this.#channel.send({ type: 'result', result, hasCleaned });
  }

  /** The worker knows all that is left to know. It takes care of what could not be cleaned. */
  #forget(): void {
    this.#runner = null;
    this.#directory = null;
    this.#state = null;
    this.#artifact = null;
    for (const resolve of this.#saves.values()) resolve(false);
    this.#saves.clear();
  }

  #worker(): AttemptWorker {
    return {
      sendLog: ({ content, ...chunk }) => this.#channel.send({ type: 'log', ...chunk }, content),
      sendProgress: (progress) => this.#channel.send({ type: 'progress', ...progress }),
      saveState: (content, meta) =>
        new Promise((resolve) => {
          if (this.#runner === null || this.#isAbandoned) return resolve(false);
          this.#saves.set(meta.write, resolve);
          this.#channel.send({ type: 'state', ...meta }, content);
        }),
    };
  }

  /** The worker died, or is done with this executor. */
  async #abandon(): Promise<void> {
    if (this.#runner === null) process.exit(exitCodes.done);
    this.#isAbandoned = true;
    for (const resolve of this.#saves.values()) resolve(false);
    await this.#runner.abandon();
    // The attempt itself may just be writing into its directory, or starting one more program.
    for (let round = 0; round < 10 && this.#directory !== null && existsSync(this.#directory); round++) {
      await removeDirectory(this.#directory).catch(reportUnforeseen);
      await this.#runner?.abandon();
    }
    process.exit(exitCodes.abandoned);
  }
}

const [cookie = '', uid = '', gid = '', identity = ''] = process.argv.slice(2);
// Ctrl-C, and a supervisor that signals all processes, mean the worker: it tells its executors what to do.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined);
closeStrayDescriptors();
dropPrivileges(Number(uid), Number(gid));
new Executor({
  cookie,
  isolatedUid: identity === 'isolated' ? Number(uid) : null,
  directory: null,
  executorPid: process.pid,
});
