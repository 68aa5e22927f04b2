import { spawn } from 'node:child_process';
import { Unavailable } from '#domain/shared/errors.ts';
import { findGitUser } from './user.ts';

/** One `git` command as a child process: nothing of our environment, bounded in time and output, gone when stopped. */

export type GitOutcome = { readonly code: number | null; readonly stdout: Buffer; readonly stderr: string };

export type GitPlace = {
  /** The private directory that the command works in: HOME, configuration and the repository. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** No file that git writes may be larger: a pack that is stops the fetch. */
  readonly largestFile: number;
  /** When everything must be done, as `Date.now()` says it. */
  readonly deadline: number;
};

/** The command ran out of time, or printed more than it may. */
export class GitStopped extends Error {
  readonly reason: 'time' | 'output';
  constructor(reason: 'time' | 'output') {
    super(`git was stopped: too much ${reason}`);
    this.reason = reason;
  }
}

const mostStderr = 64 * 1024;
/** Variables of ours that git and curl need to find programs and trusted certificates. */
const passedOn = ['PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'TMPDIR'];
/** `ulimit -f` counts in blocks of 512 bytes. */
const block = 512;
/** Ignoring the signal makes a write that goes over the limit an error, which git reports in words. */
const withFileLimit = 'trap "" XFSZ; ulimit -f "$1" && shift && exec "$@"';

/**
 * Runs git and gives what it said, also where it failed.
 * @throws GitStopped; Unavailable where there is no git
 */
export async function runGit(
  args: readonly string[],
  place: GitPlace,
  options: { input?: string; mostOutput?: number } = {},
): Promise<GitOutcome> {
  const blocks = String(Math.ceil(place.largestFile / block));
  const limited = ['-c', withFileLimit, 'sh', blocks, 'git', ...args];
  const child = spawn('/bin/sh', limited, {
    cwd: place.directory,
    env: { ...ownEnvironment(place.directory), ...place.environment },
    // A group of its own, so that the helpers which git starts end with it.
    detached: true,
    ...findGitUser(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stopped: GitStopped | undefined;
  const stop = (reason: 'time' | 'output') => {
    stopped ??= new GitStopped(reason);
    killGroup(child.pid);
  };
  const timer = setTimeout(() => stop('time'), Math.max(0, place.deadline - Date.now()));
  const stdout = collect(child.stdout, options.mostOutput ?? 1024 * 1024, () => stop('output'));
  const stderr = collect(child.stderr, mostStderr, () => undefined);
  child.stdin.on('error', () => undefined); // git that ended early closes its input; its exit code tells why
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
    killGroup(child.pid);
  }
}

/** Only what git needs; everything it could ask, remember or be configured with elsewhere is off. */
function ownEnvironment(directory: string): Record<string, string> {
  const passed = passedOn.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
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

function collect(stream: NodeJS.ReadableStream, most: number, onTooMuch: () => void): Buffer[] {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= most) chunks.push(chunk);
    else onTooMuch();
  });
  return chunks;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group is gone already, which is what was wanted.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
