import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, sep } from 'node:path';
import { cookieVariable } from '../processes/process-table.ts';
import type { SystemView } from '../sandbox/bubblewrap.ts';
import type { JobPaths } from '../sandbox/job-paths.ts';
import { allowedEnvironment, defaultSearchPath, type Environment, proxyVariableNames } from '../shared/environment.ts';
import { AttemptFailure } from '../shared/errors.ts';

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

interface GivenVariable {
  readonly name: string;
  readonly value: string;
}

/**
 * Builds the environment of an attempt's programs from the allow-list, the run's variables, and the service's own, which
 * override both.
 * @throws AttemptFailure `environment_invalid` if a value cannot be passed to a process
 */
export function buildEnvironment(options: {
  readonly given: readonly GivenVariable[];
  readonly paths: JobPaths;
  /** The part of the system that a sandbox sees; null without a sandbox. */
  readonly view: SystemView | null;
  /** Marks the attempt's processes, so that they can be found without a sandbox. */
  readonly name: string;
  /** The origin of the sandbox's proxy; null if it has none. */
  readonly proxy: string | null;
  readonly refuse: (line: string) => void;
}): Environment {
  const { paths, view, proxy } = options;
  const allowed = allowedEnvironment(process.env);
  const base = view === null ? allowed : withoutProxies(allowed);
  const path = view === null ? reachablePath(base['PATH'] ?? '') : visiblePath(base['PATH'] ?? '', view);
  const own = { HOME: paths.home, TMPDIR: paths.temporary };
  const mark: Environment = view === null ? { [cookieVariable]: options.name } : {};
  return { ...base, PATH: path, ...proxyVariables(proxy), ...selectGiven(options), ...own, ...mark };
}

function selectGiven({ given, refuse }: { given: readonly GivenVariable[]; refuse: (line: string) => void }) {
  const selected: Environment = {};
  for (const { name, value } of given) {
    if (isReserved(name)) refuse(`the variable ${name} is not passed on: the service reserves its name`);
    else selected[checkName(name)] = checkValue(name, value);
  }
  return selected;
}

/** @throws AttemptFailure `environment_invalid` */
export function checkName(name: string): string {
  if (variableName.test(name)) return name;
  const shown = JSON.stringify(name.slice(0, 64));
  throw new AttemptFailure('environment_invalid', `${shown} is not a valid name for an environment variable`);
}

function checkValue(name: string, value: string): string {
  if (!value.includes('\0')) return value;
  throw new AttemptFailure('environment_invalid', `the variable ${name} contains a NUL character`);
}

function withoutProxies(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !proxyVariableNames.includes(name.toUpperCase())),
  );
}

/** Sets both spellings: programs differ in which one they read. */
function proxyVariables(origin: string | null): Environment {
  if (origin === null) return {};
  const direct = 'localhost,127.0.0.1,::1';
  const upper = { HTTP_PROXY: origin, HTTPS_PROXY: origin, ALL_PROXY: origin, NO_PROXY: direct };
  const lower = Object.fromEntries(Object.entries(upper).map(([name, value]) => [name.toLowerCase(), value]));
  return { ...upper, ...lower };
}

/** Returns a search path without the directories that this process cannot enter, because some programs stop searching at one. */
function reachablePath(path: string): string {
  const reachable = path.split(delimiter).filter((directory) => {
    try {
      accessSync(directory, constants.X_OK);
      return isAbsolute(directory);
    } catch {
      return false;
    }
  });
  return reachable.length > 0 ? reachable.join(delimiter) : defaultSearchPath;
}

/** Returns a search path with only the directories that a sandbox sees, and with the system's program directories. */
function visiblePath(path: string, { systemPaths }: SystemView): string {
  const isVisible = (directory: string) =>
    systemPaths.some((root) => directory === root || directory.startsWith(root + sep));
  const directories = path.split(delimiter).filter((directory) => isAbsolute(directory) && isVisible(directory));
  return [...new Set([...directories, ...defaultSearchPath.split(delimiter)])].join(delimiter);
}

/** Variables that the service sets itself, or that could turn a tool against it. */
const reserved = [
  /^COORDINATOR_/i,
  /^TF_(HTTP_|CLI_|BACKEND_)/i,
  /^(TF_DATA_DIR|TF_WORKSPACE|TF_ENCRYPTION|TF_IN_AUTOMATION|TF_INPUT|CHECKPOINT_DISABLE)$/i,
  // These would bypass the lock file, or choose another place for the state.
  /^(TF_REATTACH_PROVIDERS|TF_PLUGIN_CACHE_.*|TF_FORCE_LOCAL_BACKEND|TF_ENABLE_PLUGGABLE_STATE_STORAGE)$/i,
  /^TOFU_X_/i,
  /^(HOME|TMPDIR|PWD)$/,
  // The script's shell reads these itself, or does not allow them to be set.
  /^(IFS|ENV|PS\d|OPTIND|PPID|UID|EUID|BASHOPTS|SHELLOPTS|BASH_ENV)$/,
];

function isReserved(name: string): boolean {
  return reserved.some((pattern) => pattern.test(name));
}

/** Returns the name of the environment variable through which a step reads a template variable. */
export function variableEnvironmentName(name: string): string {
  return `COORDINATOR_VAR_${name.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}`;
}
