import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AttemptFailure, codeOf } from './attempt-error.ts';
import type { Environment } from './environment.ts';
import { closeSinks, type OutputPipes, openOutputPipes } from './output-pipes.ts';

/** How long the output of a program that has ended is waited for; what it left running may keep the pipe open. */
const drainMs = 200;
const drainStepMs = 50;

export interface Command {
  readonly program: string;
  /** What the program is told of its own name; the program's path when missing. */
  readonly name?: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  readonly environment: Environment;
  /** Keep standard output, up to so many bytes, instead of logging it. */
  readonly captureBytes?: number;
  readonly timeoutMs?: number | null;
  /** Where pipes may be made for the program's output; without it, it gets sockets, which tools do not mind. */
  readonly pipeDirectory?: string;
}

export interface Exit {
  /** 128 + the signal's number where a signal ended it, as shells say. */
  readonly code: number;
  readonly captured: Buffer;
  /** More than was to be kept. */
  readonly isTruncated: boolean;
}

/** Where a child is entered while it lives, and what it prints goes. */
export interface ChildHost {
  started(leader: number, drained: Promise<unknown>): void;
  ended(leader: number): void;
  /** Resolves when the next piece may come: this is what slows a child down. */
  output(stream: 'stdout' | 'stderr', piece: Buffer): Promise<void>;
  /** Whether the log itself is what the output waits for. */
  isBehind(): boolean;
  /** The command took longer than its own limit. */
  timedOut(): void;
}

/** Runs a program in a session of its own, without input, and resolves when it has ended. @throws AttemptFailure */
export async function runChild(command: Command, host: ChildHost): Promise<Exit> {
  const pipes = command.pipeDirectory === undefined ? null : await openOutputPipes(command.pipeDirectory);
  const child = start(command, pipes);
  const exited = awaitExit(child, command);
  const captures = command.captureBytes !== undefined;
  const capture = new Capture(command.captureBytes ?? 0);
  const drained = Promise.all([
    pump(pipes?.stdout.source ?? child.stdout, captures ? capture.take : (piece) => host.output('stdout', piece)),
    pump(pipes?.stderr.source ?? child.stderr, (piece) => host.output('stderr', piece)),
  ]);
  const leader = child.pid;
  if (leader !== undefined) host.started(leader, drained);
  const timer = command.timeoutMs == null ? null : setTimeout(() => host.timedOut(), command.timeoutMs);
  try {
    const code = await exited;
    await (captures ? drained : awaitDrained(drained, drainMs, () => host.isBehind()));
    return { code, captured: capture.content(), isTruncated: capture.isTruncated };
  } finally {
    if (timer) clearTimeout(timer);
    if (leader !== undefined) host.ended(leader);
  }
}

/** Waits for the end of some output, with patience for whoever keeps it open, but not less than the log needs. */
export async function awaitDrained(
  drained: Promise<unknown>,
  patienceMs: number,
  isBehind: () => boolean,
): Promise<void> {
  let isDrained = false;
  const end = drained.then(() => {
    isDrained = true;
  });
  for (let waited = 0; !isDrained && waited < patienceMs; waited += isBehind() ? 0 : drainStepMs) {
    await Promise.race([end, sleep(drainStepMs)]);
  }
}

function start(command: Command, pipes: OutputPipes | null): ChildProcess {
  const options: SpawnOptions = {
    ...(command.name !== undefined && { argv0: command.name }),
    cwd: command.directory,
    env: command.environment,
    detached: true,
    stdio: ['ignore', pipes?.stdout.sink ?? 'pipe', pipes?.stderr.sink ?? 'pipe'],
  };
  try {
    return spawn(command.program, command.arguments, options);
  } catch (error) {
    throw notStarted(command, error);
  } finally {
    closeSinks(pipes);
  }
}

function awaitExit(child: ChildProcess, command: Command): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(command, error)));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

const startErrors: Record<string, string> = {
  ENOENT: 'there is no such program',
  EACCES: 'it may not be run',
  E2BIG: 'its arguments and environment are too large',
  ERR_INVALID_ARG_VALUE: 'an argument or variable holds a NUL character',
};

function notStarted({ program, name }: Command, cause: unknown): AttemptFailure {
  const code = codeOf(cause) ?? 'unknown error';
  const message = `"${name ?? program}" could not be started: ${startErrors[code] ?? code}`;
  return new AttemptFailure('step_not_started', message, { cause });
}

async function pump(source: Readable | null, take: (piece: Buffer) => Promise<void> | void): Promise<void> {
  if (source === null) return;
  try {
    for await (const piece of source) await take(piece);
  } catch (error) {
    // Closed from this side, at the attempt's end.
    if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

class Capture {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  isTruncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  readonly take = (piece: Buffer): void => {
    if (this.#bytes + piece.length > this.#limit) this.isTruncated = true;
    if (this.isTruncated) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  };

  content(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
