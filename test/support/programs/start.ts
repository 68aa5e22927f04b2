import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readUntil } from '../read-until.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The environment of a program under test: only the test's own settings of this service are set. */
export function programEnvironment(settings: Record<string, string | undefined>): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env;
  return {
    PATH,
    HOME,
    TMPDIR,
    XDG_CACHE_HOME,
    NODE_COMPILE_CACHE,
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
    ...settings,
  };
}

/** A program under test, with its output so far. */
export class Program {
  readonly child: ChildProcess;
  output = '';

  constructor(command: readonly [string, ...string[]], environment: NodeJS.ProcessEnv, directory = root) {
    const [file, ...rest] = command;
    this.child = spawn(file, rest, { cwd: directory, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk) => {
        this.output += String(chunk);
      });
    }
  }

  /** Runs a command of this service, such as `start`. */
  static coordinator(given: readonly string[], settings: Record<string, string | undefined>): Program {
    return new Program([process.execPath, 'src/main.ts', ...given], programEnvironment(settings));
  }

  /** Starts everything as a user does, from a build. */
  static start(settings: Record<string, string | undefined>): Program {
    return new Program(['./start'], programEnvironment(settings));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Waits for output that matches. @throws with the whole output if the time passes or the program ends first */
  async says(pattern: RegExp, withinMs = 300_000): Promise<RegExpExecArray> {
    const find = async () => pattern.exec(this.output);
    const match = await readUntil(find, (found) => found !== null || this.hasEnded, withinMs);
    if (match !== null) return match;
    throw new Error(`the program did not print ${pattern}:\n${this.output}`);
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits for the end. Returns the exit code, or the signal that ended the program. */
  async ends(): Promise<number | string | null> {
    if (!this.hasEnded) await once(this.child, 'close');
    return this.child.exitCode ?? this.child.signalCode;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string | null> {
    this.child.kill(signal);
    return this.ends();
  }
}

export type ProcessEntry = { readonly pid: number; readonly parent: number; readonly command: string };

export function listProcesses(): ProcessEntry[] {
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, state, command = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return state === undefined || state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
}

/** A process and all its descendants. */
export function processTree(pid: number): ProcessEntry[] {
  const all = listProcesses();
  const tree = all.filter((entry) => entry.pid === pid);
  for (const { pid: known } of tree) tree.push(...all.filter(({ parent }) => parent === known));
  return tree;
}

/** Waits until all the processes have ended. Returns those that are left after the time. */
export async function whatIsLeft(processes: readonly ProcessEntry[], withinMs = 20_000): Promise<ProcessEntry[]> {
  const isSame = (entry: ProcessEntry) => (now: ProcessEntry) => now.pid === entry.pid && now.command === entry.command;
  const findLeft = async () => {
    const now = listProcesses();
    return processes.filter((entry) => now.some(isSame(entry)));
  };
  return readUntil(findLeft, (left) => left.length === 0, withinMs);
}
