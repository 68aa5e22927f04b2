import { type ResourceLimits, Worker } from 'node:worker_threads';
import { type Message, priorityVariable, type Reply, type Task } from './messages.ts';
import { type Program, readProgram, startProgram } from './program.ts';
import { type SilenceLimits, watchSilence } from './silence.ts';

/** The evaluation limits its own processor time. These limits end a thread in which that has failed. */
const standardSilence: SilenceLimits = { processorMs: 60_000, wallMs: 600_000 };
/** An evaluation that needs more memory ends its thread instead of the process. */
const standardLimits: ResourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

const threadMain = new URL('../../evaluation-thread.ts', import.meta.url);
/** The thread gets none of the process's environment variables, some of which are secrets. */
const isolation = { env: {}, execArgv: [] };

let read: Promise<Program> | undefined;

/** The code of evaluation threads, which is read once. Read it while the process may read its files. */
export function readEvaluationProgram(): Promise<Program> {
  read ??= readProgram(threadMain, isolation).catch((error) => {
    read = undefined;
    throw error;
  });
  return read;
}

export type Evaluated = Exclude<Reply, { outcome: 'value_missing' }>;

/** A thread needs 20 MiB, and a third of a second to start. */
const standardIdleMs = 60_000;

/**
 * A thread that evaluates one task at a time. It starts with the first task, and again after one that ended it or after a minute without
 * any.
 */
export class EvaluationThread {
  readonly #limits: ResourceLimits;
  readonly #silence: SilenceLimits;
  readonly #priority: number | null;
  readonly #endIdleAfterMs: number;
  #program: Program | undefined;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** Without a priority, the thread has that of the process. */
  constructor(
    priority: number | null,
    limits = standardLimits,
    silence = standardSilence,
    endIdleAfterMs = standardIdleMs,
  ) {
    this.#endIdleAfterMs = endIdleAfterMs;
    this.#priority = priority;
    this.#limits = limits;
    this.#silence = silence;
  }

  /** Lets the thread start from code in memory from now on, whether or not the process may read its files. */
  keepProgram(program: Program): void {
    this.#program = program;
  }

  /** Runs a task. `value` is the value that the thread remembers. It is sent only if the thread does not know it yet. */
  async run(task: Task, value: object | null): Promise<Evaluated> {
    const reply = await this.#ask({ task, value: null });
    if (reply.outcome !== 'value_missing') return reply;
    const second = await this.#ask({ task, value });
    if (second.outcome === 'value_missing')
      throw new Error('an evaluation thread did not take the value that it is to remember');
    return second;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
  }

  /** A thread whose task was too costly is ended: what the task left in its memory could make the next one too costly as well. */
  async #ask(message: Message): Promise<Reply> {
    clearTimeout(this.#idle);
    const worker = this.#worker ?? this.#start();
    const reply = await this.#askWorker(worker, message);
    if (reply.outcome === 'too_costly') this.#end(worker);
    else this.#idle = setTimeout(() => this.#end(worker), this.#endIdleAfterMs).unref();
    return reply;
  }

  #end(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined;
    void worker.terminate();
  }

  #askWorker(worker: Worker, message: Message): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    // The thread ends with the task. At least the usual limit of a task is charged, because the used processor time may be unknown.
    const giveUp = (usedMs: number) => resolve({ outcome: 'too_costly', usedMs: Math.max(2_000, usedMs) });
    const stopWatching = watchSilence(worker, this.#silence, giveUp);
    const onError = (error: unknown) => (isOutOfMemory(error) ? giveUp(0) : reject(error));
    const onExit = () => reject(new Error('an evaluation thread ended'));
    worker.once('message', resolve).once('error', onError).once('exit', onExit);
    worker.postMessage(message);
    return promise.finally(() => {
      stopWatching();
      worker.off('message', resolve).off('error', onError).off('exit', onExit);
    });
  }

  #start(): Worker {
    const env = this.#priority === null ? {} : { [priorityVariable]: String(this.#priority) };
    const options = { ...isolation, env, resourceLimits: this.#limits, name: 'evaluation' };
    const worker = this.#program ? startProgram(this.#program, options) : new Worker(threadMain, options);
    worker.unref();
    // `run` reports the error of a thread to its task. Without a listener, the error would end the process.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
