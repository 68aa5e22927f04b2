import { spawn } from 'node:child_process';
import { Unavailable } from '#domain/shared/errors.ts';
import { findGitUser } from './user.ts';

/**
 * One `git` command as a child process. It gets none of the service's environment, its time and output are limited, and all
 * its processes end with it.
 */

export type GitOutcome = { readonly code: number | null; readonly stdout: Buffer; readonly stderr: string };

/** Runs git in the directory of a repository, and returns its output. @throws ServiceError if it fails */
export type Git = (args: readonly string[], options?: { input?: string; maximumOutput?: number }) => Promise<Buffer>;

export type GitPlace = {
  /** The private directory that the command works in: HOME, configuration and the repository. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The maximum size of a file in bytes. A fetch with a larger pack fails. */
  readonly largestFile: number;
  /** The time by which the command must be done, in milliseconds like `Date.now()`. */
  readonly deadline: number;
  /** Stops the command earlier, because another task has its place. */
  readonly givenUp?: AbortSignal;
};

/** Why a command was stopped: its time was over, it printed too much, or another task has its place. */
type StopReason = 'time' | 'output' | 'place';

/** The command was killed. */
export class GitStopped extends Error {
  readonly reason: StopReason;
  constructor(reason: StopReason) {
    super(`git was stopped because of its ${reason}`);
    this.reason = reason;
  }
}

const maxStderr = 64 * 1024;
/** Variables that git and curl need to find programs and trusted certificates. */
const inheritedVariables = ['PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'TMPDIR'];
/** The size in bytes of the blocks in which `ulimit -f` counts. */
const blockBytes = 512;
/**
 * The memory of each process of git, in units of 1,024 bytes. A small pack can contain an object that unpacks to gigabytes, and git loads
 * commits and trees completely. Mapped memory counts too, so the configuration limits how much of a pack is mapped.
 */
const memoryUnits = 448 * 1024;
/**
 * The signal is ignored, so that a write beyond the limit fails with an error that git reports. The helper processes of git inherit the
 * limits.
 */
const withLimits = 'trap "" XFSZ; ulimit -f "$1" && ulimit -v "$2" && shift 2 && exec "$@"';

/**
 * Runs git and returns its output, even if it failed.
 * @throws GitStopped if it exceeds a limit; Unavailable if git cannot be started
 */
export async function runGit(
  args: readonly string[],
  place: GitPlace,
  options: { input?: string; maximumOutput?: number } = {},
): Promise<GitOutcome> {
  if (place.givenUp?.aborted) throw new GitStopped('place');
  const child = startGit(args, place);
  let stopped: GitStopped | undefined;
  const stop = (reason: StopReason) => {
    stopped ??= new GitStopped(reason);
    killGroup(child.pid);
  };
  const giveUp = () => stop('place');
  place.givenUp?.addEventListener('abort', giveUp);
  const timer = setTimeout(() => stop('time'), Math.max(0, place.deadline - Date.now()));
  const stdout = collect(child.stdout, options.maximumOutput ?? 1024 * 1024, () => stop('output'));
  const stderr = collect(child.stderr, maxStderr, () => undefined);
  child.stdin.on('error', () => undefined); // git closes its input if it ends early; its exit code says why
  child.stdin.end(options.input ?? '');
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (cause) => reject(new Unavailable('git could not be started', { cause })));
      child.once('close', resolve);
    });
    if (stopped) throw stopped;
    if (code === 127) throw new Unavailable('git is not installed where the service runs');
    return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
  } finally {
    clearTimeout(timer);
    place.givenUp?.removeEventListener('abort', giveUp);
    killGroup(child.pid);
  }
}

/**
 * Runs git with its input and output connected to streams, such as a request and its answer. Resolves to whether git succeeded.
 * @throws Unavailable if git cannot be started
 */
export async function streamGit(
  args: readonly string[],
  place: GitPlace,
  { input, output }: { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream },
): Promise<boolean> {
  const child = startGit(args, place);
  const stop = () => killGroup(child.pid);
  const timer = setTimeout(stop, Math.max(0, place.deadline - Date.now()));
  place.givenUp?.addEventListener('abort', stop);
  output.once('close', stop);
  child.stdin.on('error', () => undefined);
  child.stderr.resume();
  input.pipe(child.stdin);
  child.stdout.pipe(output, { end: false });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (cause) => reject(new Unavailable('git could not be started', { cause })));
      child.once('close', resolve);
    });
    return code === 0;
  } finally {
    clearTimeout(timer);
    place.givenUp?.removeEventListener('abort', stop);
    output.removeListener('close', stop);
    stop();
  }
}

function startGit(args: readonly string[], { directory, environment, largestFile }: GitPlace) {
  const blocks = String(Math.ceil(largestFile / blockBytes));
  const limited = ['-c', withLimits, 'sh', blocks, String(memoryUnits), 'git', ...args];
  return spawn('/bin/sh', limited, {
    cwd: directory,
    env: { ...ownEnvironment(directory), ...environment },
    // Its own process group, so that the helpers that git starts end with it.
    detached: true,
    ...findGitUser(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** The environment with only what git needs. Prompts, stored credentials and other configuration are turned off. */
function ownEnvironment(directory: string): Record<string, string> {
  const passed = inheritedVariables.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  return {
    ...Object.fromEntries(passed),
    HOME: directory,
    XDG_CONFIG_HOME: directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: `${directory}/gitconfig`,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_LFS_SKIP_SMUDGE: '1',
    SSH_ASKPASS_REQUIRE: 'never',
    LC_ALL: 'C',
    TZ: 'UTC',
  };
}

function collect(stream: NodeJS.ReadableStream, maximum: number, onTooMuch: () => void): Buffer[] {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maximum) chunks.push(chunk);
    else onTooMuch();
  });
  return chunks;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group has ended already.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
