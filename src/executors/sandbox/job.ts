import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { Duplex, type Readable } from 'node:stream';
import { AttemptFailure, codeOf } from '../attempt/attempt-error.ts';
import { readStart } from '../processes/process-table.ts';
import { listDescendants, readChildren } from '../processes/process-tree.ts';
import { closeSinks, type OutputPipes } from './output-pipes.ts';
import type { ScriptWord } from './script.ts';

/** How a job's script is started. */
export interface JobStart {
  readonly program: string;
  readonly arguments: readonly string[];
  /** A process that starts joins these control groups first: files into which it writes. */
  readonly groupFiles: readonly string[];
  /** Descriptors 5 and 6, if there are any; closed here once the process has them. */
  readonly descriptors: readonly number[];
  /** Pipes for what programs print; without them they get sockets. */
  readonly pipes: OutputPipes | null;
  /** Told which process is the sandbox's init, and when that started. */
  readonly onInit?: (pid: number, start: string) => void;
  /** Whether the script runs below an init of its own. */
  readonly isContained: boolean;
}

export interface JobEvent {
  readonly word: ScriptWord;
  readonly details: readonly string[];
}

const joinGroups = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"';
const longestStatus = 64 * 1024;
/** Where bubblewrap says which process it made, behind the filter at 5 and its arguments at 6. */
const infoIndex = 7;

/** A job's script while it runs: the words that it says, and the ways to stop it. */
export class Job {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** 128 + the number of the signal that ended it, as shells say. */
  readonly exited: Promise<number>;
  readonly #isContained: boolean;
  readonly #child: ChildProcess;
  readonly #control: Duplex;
  /** The init of the sandbox's process namespace, which is also the group of its programs; null until it is known. */
  #init: number | null = null;
  #initStart: string | null = null;
  readonly #events: JobEvent[] = [];
  #rest = '';
  #wake: () => void = () => undefined;
  #hasExited = false;
  #hasBegun = false;

  /** @throws AttemptFailure where the system starts no such process */
  constructor(start: JobStart) {
    const child = spawnJob(start);
    const [, , , status, control] = child.stdio;
    const info: unknown = Array.from<unknown>(child.stdio)[infoIndex];
    const stdout = start.pipes?.stdout.source ?? child.stdout;
    const stderr = start.pipes?.stderr.source ?? child.stderr;
    if (!(status instanceof Duplex) || !(control instanceof Duplex) || !stdout || !stderr || child.pid === undefined) {
      child.once('error', () => undefined);
      throw new AttemptFailure('sandbox_unavailable', `"${start.program}" could not be started`);
    }
    this.pid = child.pid;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#isContained = start.isContained;
    this.#child = child;
    this.#control = control;
    control.on('error', () => undefined);
    status.on('error', () => undefined);
    status.on('data', (piece: Buffer) => this.#read(piece));
    if (info instanceof Duplex)
      readInit(info, (pid) => {
        this.#init = pid;
        this.#initStart = readStart(pid);
        start.onInit?.(pid, this.#initStart ?? '');
      });
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
    // The last words may arrive after the process is gone; the pipe's end follows them.
    const closed = new Promise<void>((resolve) => status.once('close', () => resolve()));
    void this.exited
      .then(() => Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 500))]))
      .then(() => {
        this.#hasExited = true;
        this.#wake();
      });
  }

  /** The next thing that the script says; null once it has ended. */
  async next(): Promise<JobEvent | null> {
    for (;;) {
      const event = this.#events.shift();
      if (event) return event;
      if (this.#hasExited) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Lets the script run its next step, or, at `ready`, end. */
  proceed(): void {
    this.#control.write('go\n');
  }

  /** Lets the script run no further step: it gets ready at once. */
  finish(): void {
    this.#control.write('stop\n');
  }

  /** Asks the programs of the running step to stop, as Ctrl-C would. */
  interrupt(): void {
    const group = this.#isContained ? this.#init : this.pid;
    if (group !== null && !this.#hasExited) signalQuietly(-group, 'SIGINT');
  }

  /** Kills the programs of the running step, and leaves the script to say so. */
  killPrograms(): void {
    const script = this.#isContained ? this.#scriptProcess() : this.pid;
    if (script === null || this.#hasExited) return;
    for (const pid of listDescendants(script)) signalQuietly(pid, 'SIGKILL');
  }

  /** Ends a sandbox with all that is in it: its init first, with which the kernel ends the rest. Outside of one, ends the script's process group. */
  kill(): void {
    if (this.#init !== null && readStart(this.#init) === this.#initStart) signalQuietly(this.#init, 'SIGKILL');
    if (this.#hasExited) return;
    signalQuietly(this.#isContained ? this.pid : -this.pid, 'SIGKILL');
  }

  /** Whether the sandbox's init is gone, and with it everything in the sandbox. */
  get isCleared(): boolean {
    return this.hasExited && (this.#init === null || readStart(this.#init) !== this.#initStart);
  }

  /** The directory that the script sees as its root; null where it has ended. */
  get rootDirectory(): string | null {
    if (!this.#isContained) return '/';
    // Until the script speaks, the process may still see the machine's own root.
    return this.#init === null || !this.#hasBegun || this.#hasExited ? null : `/proc/${this.#init}/root`;
  }

  get hasExited(): boolean {
    return this.#hasExited || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The first child of the sandbox's init. */
  #scriptProcess(): number | null {
    const [script] = this.#init === null ? [] : readChildren(this.#init);
    return script ?? null;
  }

  #read(piece: Buffer): void {
    const lines = (this.#rest + piece.toString('latin1')).split('\n');
    this.#rest = lines.pop() ?? '';
    // The script writes a few short lines: anything else comes from somebody who meddled with it.
    if (this.#rest.length > longestStatus || this.#events.length > longestStatus) {
      this.kill();
      return;
    }
    for (const line of lines) {
      const [word = '', ...details] = line.split(' ');
      if (!isWord(word)) continue;
      this.#hasBegun = true;
      this.#events.push({ word, details });
    }
    this.#wake();
  }
}

/** bubblewrap says in JSON which process it made, before that runs anything. */
function readInit(info: Duplex, found: (pid: number) => void): void {
  let text = '';
  info.on('error', () => undefined);
  info.on('data', (piece: Buffer) => {
    text = (text + piece.toString('latin1')).slice(0, longestStatus);
    const pid = /"child-pid": (\d+)/.exec(text)?.[1];
    if (pid !== undefined) found(Number(pid));
  });
}

function isWord(word: string): word is ScriptWord {
  return (
    word === 'waiting' ||
    word === 'begin' ||
    word === 'end' ||
    word === 'missing' ||
    word === 'ready' ||
    word === 'broken'
  );
}

function spawnJob(start: JobStart): ChildProcess {
  const { program, arguments: given, groupFiles, pipes, descriptors } = start;
  const [file, all] =
    groupFiles.length === 0
      ? [program, given]
      : ['/bin/sh', ['-c', joinGroups, 'sh', ...groupFiles, '--', program, ...given]];
  try {
    return spawn(file, all, {
      cwd: '/',
      // Nothing of a run's environment: these programs work outside of the sandbox, and its script sets that inside.
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C' },
      detached: true,
      stdio: stdioOf(start),
    });
  } finally {
    closeSinks(pipes);
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

function stdioOf({ pipes, descriptors, isContained }: JobStart): StdioOptions {
  const output = [pipes?.stdout.sink ?? 'pipe', pipes?.stderr.sink ?? 'pipe'] as const;
  return ['ignore', ...output, 'pipe', 'pipe', ...descriptors, ...(isContained ? (['pipe'] as const) : [])];
}

function signalQuietly(pid: number, signal: 'SIGINT' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has ended already.
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error;
  }
}
