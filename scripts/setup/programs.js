import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's directory. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const projectPrograms = join(root, 'node_modules', '.bin');

const running = new Set();
const longestKept = 64 * 1024;

/** Ends this process and everything that it runs when its parent ends. npm does not forward SIGTERM. */
export function endWithParent() {
  const parent = process.ppid;
  const end = () => {
    for (const child of running) signalGroup(child, 'SIGTERM');
    process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
  setInterval(() => process.ppid !== parent && end(), 500).unref();
}

/** The first executable with this name on PATH, except for the project's own programs; null if there is none. */
export function findProgram(name, path = process.env.PATH ?? '') {
  const directories = path.split(delimiter).filter((directory) => directory !== '' && directory !== projectPrograms);
  return directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
}

export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Runs a short command such as `[node, '--version']`. @returns its output; null if it fails */
export function tryProgram(command, options = {}) {
  const [file, ...rest] = command;
  const result = spawnSync(file, rest, { encoding: 'utf8', timeout: 20_000, ...options });
  return result.status === 0 ? result.stdout.trim() : null;
}

/**
 * Runs a long step and prints its progress. Calls `shouldStop` twice a second; the step is killed when that returns a
 * reason.
 * @returns `{ isDone, output }`
 */
export async function runStep(what, command, { environment = process.env, shouldStop = () => null } = {}) {
  const [file, ...rest] = command;
  const startedAt = Date.now();
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  console.log(`${what} …`);
  // The step gets its own process group, so that its children can be killed with it.
  const child = spawn(file, rest, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-longestKept);
    });
  }
  const progress = setInterval(() => console.log(`${what} … ${elapsed()}`), 10_000);
  const watch = setInterval(() => {
    const reason = shouldStop();
    if (reason !== null) {
      output += `\n${reason}`;
      signalGroup(child, 'SIGKILL');
    }
  }, 500);
  const code = await new Promise((resolveStep) => {
    child.once('error', (error) => {
      output += `\n${error.message}`;
      resolveStep(1);
    });
    child.once('close', (exitCode) => resolveStep(exitCode ?? 1));
  });
  clearInterval(progress);
  clearInterval(watch);
  running.delete(child);
  const isDone = code === 0;
  console.log(isDone ? `${what}: done in ${elapsed()}.` : `${what}: failed after ${elapsed()}.`);
  return { isDone, output: output.trim() };
}

/** Whether a program's output means that the network or a server is unreachable. */
export function isNetworkFailure(output) {
  return /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|no such host|dial tcp|i\/o timeout|network is unreachable|connection refused|Temporary failure in name|module lookup disabled|dns error|failed to lookup|error sending request/i.test(
    output,
  );
}

function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The process group has just ended.
  }
}
