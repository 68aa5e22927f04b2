import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { Duplex, type Readable } from 'node:stream';
import { readStart } from '#domain/shared/processes.ts';
import { listDescendants, readChildren } from '../processes/process-tree.ts';
import { AttemptFailure, codeOf } from '../shared/errors.ts';
import { closeSinks, type OutputPipes } from './output-pipes.ts';
import type { ScriptEventName } from './script.ts';

/** How to start a job's script. */
interface JobProcessOptions {
  readonly program: string;
  readonly arguments: readonly string[];
  /** Control groups that the process joins before anything else: files to write into. */
  readonly groupFiles: readonly string[];
  /** Descriptors 5 and 6, if any. They are closed here once the process has them. */
  readonly descriptors: readonly number[];
  /** Pipes for the programs' output; null: they get sockets. */
  readonly pipes: OutputPipes | null;
  /** Receives the process id of the sandbox's init, and its start time. */
  readonly onInit?: (pid: number, start: string) => void;
  /** Whether the script runs below an init of its own. */
  readonly isSandboxed: boolean;
}

interface ScriptEvent {
  readonly name: ScriptEventName;
  readonly details: readonly string[];
}

const joinGroups = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"';
const maxStatusLength = 64 * 1024;
/** Where bubblewrap reports the process it created, after the filter at 5 and its arguments at 6. */
const infoIndex = 7;

/** The running script of a job: the events that it reports, and the ways to stop it. */
export class JobProcess {
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves to the exit code, or to 128 plus the number of the signal that ended it, as in shells. */
  readonly exited: Promise<number>;
  readonly #isSandboxed: boolean;
  readonly #child: ChildProcess;
  readonly #control: Duplex;
  /** The init of the sandbox's process namespace, which also leads its programs' process group; null until it is known. */
  #init: number | null = null;
  #initStart: string | null = null;
  readonly #events: ScriptEvent[] = [];
  #rest = '';
  #wake: () => void = () => undefined;
  #hasExited = false;
  #hasBegun = false;

  /** @throws AttemptFailure if the process could not be started */
  constructor(start: JobProcessOptions) {
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
    this.#isSandboxed = start.isSandboxed;
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
    // The last events may arrive after the process has exited; they come before the end of the pipe.
    const closed = new Promise<void>((resolve) => status.once('close', () => resolve()));
    void this.exited
      .then(() => Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 500))]))
      .then(() => {
        this.#hasExited = true;
        this.#wake();
      });
  }

  /** Returns the script's next event; null once it has ended. */
  async next(): Promise<ScriptEvent | null> {
    for (;;) {
      const event = this.#events.shift();
      if (event) return event;
      if (this.#hasExited) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Lets the script run its next step, or end if it is `ready`. */
  proceed(): void {
    this.#control.write('go\n');
  }

  /** Tells the script to skip its remaining steps and become `ready`. */
  finish(): void {
    this.#control.write('stop\n');
  }

  /** Sends the running step's programs the signal that Ctrl-C would. */
  interrupt(): void {
    const group = this.#isSandboxed ? this.#init : this.pid;
    if (group !== null && !this.#hasExited) signalQuietly(-group, 'SIGINT');
  }

  /** Kills the running step's programs. The script survives and reports the end of the step. */
  killPrograms(): void {
    const script = this.#isSandboxed ? this.#scriptProcess() : this.pid;
    if (script === null || this.#hasExited) return;
    for (const pid of listDescendants(script)) signalQuietly(pid, 'SIGKILL');
  }

  /**
   * Kills the script and its programs. In a sandbox this kills the init, and the kernel then ends the rest; otherwise it kills
   * the script's process group.
   */
  kill(): void {
    if (this.#init !== null && readStart(this.#init) === this.#initStart) signalQuietly(this.#init, 'SIGKILL');
    if (this.#hasExited) return;
    signalQuietly(this.#isSandboxed ? this.pid : -this.pid, 'SIGKILL');
  }

  /** Whether the sandbox's init is gone, and every other process of the sandbox with it. */
  get isCleared(): boolean {
    return this.hasExited && (this.#init === null || readStart(this.#init) !== this.#initStart);
  }

  /** The directory that the script sees as its root; null once it has ended. */
  get rootDirectory(): string | null {
    if (!this.#isSandboxed) return '/';
    // Before its first event, the process may still see the machine's own root.
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
    // The script only writes a few short lines, so more than that means that something tampered with it.
    if (this.#rest.length > maxStatusLength || this.#events.length > maxStatusLength) {
      this.kill();
      return;
    }
    for (const line of lines) {
      const [name = '', ...details] = line.split(' ');
      if (!isEventName(name)) continue;
      this.#hasBegun = true;
      this.#events.push({ name, details });
    }
    this.#wake();
  }
}

/** Reads the process id that bubblewrap reports as JSON before the process runs anything. */
function readInit(info: Duplex, found: (pid: number) => void): void {
  let text = '';
  info.on('error', () => undefined);
  info.on('data', (piece: Buffer) => {
    text = (text + piece.toString('latin1')).slice(0, maxStatusLength);
    const pid = /"child-pid": (\d+)/.exec(text)?.[1];
    if (pid !== undefined) found(Number(pid));
  });
}

function isEventName(name: string): name is ScriptEventName {
  return (
    name === 'waiting' ||
    name === 'begin' ||
    name === 'end' ||
    name === 'missing' ||
    name === 'ready' ||
    name === 'broken'
  );
}

function spawnJob(start: JobProcessOptions): ChildProcess {
  const { program, arguments: given, groupFiles, pipes, descriptors } = start;
  const [file, all] =
    groupFiles.length === 0
      ? [program, given]
      : ['/bin/sh', ['-c', joinGroups, 'sh', ...groupFiles, '--', program, ...given]];
  try {
    return spawn(file, all, {
      cwd: '/',
      // No variables of the run: these programs work outside of the sandbox, and the script sets the variables inside.
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C' },
      detached: true,
      stdio: stdioOf(start),
    });
  } finally {
    closeSinks(pipes);
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

function stdioOf({ pipes, descriptors, isSandboxed }: JobProcessOptions): StdioOptions {
  const output = [pipes?.stdout.sink ?? 'pipe', pipes?.stderr.sink ?? 'pipe'] as const;
  return ['ignore', ...output, 'pipe', 'pipe', ...descriptors, ...(isSandboxed ? (['pipe'] as const) : [])];
}

function signalQuietly(pid: number, signal: 'SIGINT' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The process has ended already, or belongs to another user.
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error;
  }
}
