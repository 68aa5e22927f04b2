import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/**
 * Runs a native program that must not outlive this process, even if this process is killed. A small shell is the
 * program's watchdog: when its standard input closes (because this process closes it or dies), it sends the stop signal,
 * and SIGKILL after the grace period. The watchdog has its own session, so that Ctrl-C reaches only this process, which
 * then stops everything in the right order.
 *
 * The traps keep the watchdog alive when a supervisor signals every process at once. The program does not inherit them,
 * as it would inherit ignored signals. A prefix command ends by itself when the watchdog that it runs has ended.
 */
const watchdogScript = `
trap : HUP INT TERM
signal=$1 grace=$2
shift 2
exec 4<&0
"$@" 4<&- </dev/null &
child=$!
(
  trap '' HUP INT
  trap - TERM
  while read -r _; do :; done <&4
  kill -s "$signal" "$child" 2>/dev/null
  while [ "$grace" -gt 0 ] && kill -0 "$child" 2>/dev/null; do
    sleep 1
    grace=$((grace - 1))
  done
  kill -s KILL "$child" 2>/dev/null
) 3>&- &
reader=$!
exec 4<&-
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do
  wait "$child"
  code=$?
done
kill "$reader" 2>/dev/null
exit "$code"
`;

export type NativeProgram = {
  readonly command: string;
  readonly arguments: readonly string[];
  /** Standard output and standard error are appended to this file. */
  readonly logFile: string;
  readonly stopSignal: 'INT' | 'TERM';
  readonly graceSeconds: number;
  readonly environment?: NodeJS.ProcessEnv;
  /** The user of the program and its watchdog, if it is not this process's. */
  readonly user?: { readonly uid: number; readonly gid: number } | null;
  /** A command that runs the watchdog, for instance to change its user or to isolate it from the network. */
  readonly prefix?: readonly string[];
};

export type NativeProcess = {
  /** Resolves when the program has ended, with its exit code. */
  readonly exited: Promise<number>;
  readonly hasExited: () => boolean;
  /** Sends the stop signal, and SIGKILL after the grace period. Resolves when the program has ended. */
  readonly stop: () => Promise<void>;
};

/** Starts a program under a watchdog. @throws Error if the shell cannot be started */
export async function startNativeProcess(program: NativeProgram): Promise<NativeProcess> {
  const log = openSync(program.logFile, 'a', 0o600);
  const watchdog = ['/bin/sh', '-c', watchdogScript, 'watchdog', program.stopSignal, String(program.graceSeconds)];
  const [command = '', ...given] = [...(program.prefix ?? []), ...watchdog, program.command, ...program.arguments];
  const shell = spawn(command, given, {
    cwd: '/',
    detached: true,
    stdio: ['pipe', log, log],
    env: program.environment ?? nativeEnvironment(),
    ...program.user,
  });
  closeSync(log);
  // A write to a pipe without a reader must not end this process. `exited` reports the end.
  shell.stdin?.on('error', () => {});
  await once(shell, 'spawn');
  return watch(shell);
}

function watch(shell: ChildProcess): NativeProcess {
  const exited = new Promise<number>((resolve) => {
    shell.once('exit', (code) => resolve(code ?? 1));
  });
  return {
    exited,
    hasExited: () => shell.exitCode !== null || shell.signalCode !== null,
    stop: async () => {
      shell.stdin?.end();
      await exited;
    },
  };
}

/** The variables of this environment that native programs get. None of them is secret. */
export function nativeEnvironment(): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, TZ } = process.env;
  return { PATH, ...(TMPDIR && { TMPDIR }), ...(TZ && { TZ }), LC_ALL: 'C', HOME: '/' };
}
