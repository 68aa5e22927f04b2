import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/**
 * Runs a native program which must not outlive this process, however this process ends. A small shell stands between:
 * when its standard input closes (on purpose, or because this process was killed), it sends the stop signal, and
 * SIGKILL after the grace. It runs in a session of its own, so that Ctrl-C reaches this process alone, which then stops
 * things in the right order.
 *
 * The shell's own traps keep it alive when a supervisor signals every process at once; handlers, unlike ignored signals,
 * are not inherited by the program. A prefix command ends by itself once the guard that it runs has ended.
 */
const guardScript = `
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
watcher=$!
exec 4<&-
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do
  wait "$child"
  code=$?
done
kill "$watcher" 2>/dev/null
exit "$code"
`;

export type GuardedProgram = {
  readonly command: string;
  readonly arguments: readonly string[];
  /** Appended to: standard output and standard error. */
  readonly logFile: string;
  readonly stopSignal: 'INT' | 'TERM';
  readonly graceSeconds: number;
  readonly environment?: NodeJS.ProcessEnv;
  /** Another user than this process's, for the program and its guard. */
  readonly user?: { readonly uid: number; readonly gid: number } | null;
  /** A command that runs the guard, which runs the program: it changes the user, or keeps both from the network. */
  readonly prefix?: readonly string[];
};

export type Guarded = {
  /** Resolves when the program has ended, with its exit code. */
  readonly exited: Promise<number>;
  readonly hasExited: () => boolean;
  /** Sends the stop signal, SIGKILL after the grace, and resolves when the program has ended. */
  readonly stop: () => Promise<void>;
};

/** Starts a program under a guard. @throws when the shell cannot be started */
export async function spawnGuarded(program: GuardedProgram): Promise<Guarded> {
  const log = openSync(program.logFile, 'a', 0o600);
  const guard = ['/bin/sh', '-c', guardScript, 'guard', program.stopSignal, String(program.graceSeconds)];
  const [command = '', ...given] = [...(program.prefix ?? []), ...guard, program.command, ...program.arguments];
  const shell = spawn(command, given, {
    cwd: '/',
    detached: true,
    stdio: ['pipe', log, log],
    env: program.environment ?? nativeEnvironment(),
    ...program.user,
  });
  closeSync(log);
  // A pipe whose reader is gone must not end this process; the exit is seen below.
  shell.stdin?.on('error', () => {});
  await once(shell, 'spawn');
  return watch(shell);
}

function watch(shell: ChildProcess): Guarded {
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

/** What native programs get to know of this environment: nothing secret. */
export function nativeEnvironment(): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, TZ } = process.env;
  return { PATH, ...(TMPDIR && { TMPDIR }), ...(TZ && { TZ }), LC_ALL: 'C', HOME: '/' };
}
