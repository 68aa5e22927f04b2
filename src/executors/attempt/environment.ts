import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, sep } from 'node:path';
import { cookieVariable } from '../processes/process-table.ts';
import type { SystemView } from '../sandbox/bubblewrap.ts';
import type { Places } from '../sandbox/places.ts';
import { AttemptFailure } from './attempt-error.ts';

/** What of the worker's environment may reach the programs of an attempt. Anything else stays behind. */

const passedOn = ['PATH', 'LANG', 'LANGUAGE', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'];
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

export type Environment = Record<string, string>;

/** The allow-list: where programs are, how text is written, which authorities are trusted, and the way out. */
export function allowedEnvironment(environment: Readonly<Record<string, string | undefined>>): Environment {
  const allowed: Environment = { PATH: defaultPath };
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === '') continue;
    if (passedOn.includes(name) || name.startsWith('LC_')) allowed[name] = value;
    if (proxies.includes(name.toUpperCase()) && !holdsCredentials(value)) allowed[name] = value;
  }
  return allowed;
}

export interface GivenVariable {
  readonly name: string;
  readonly value: string;
}

/**
 * The environment of an attempt's programs: the allow-list, what the run gives, and what the service sets over both.
 * @throws AttemptFailure `environment_invalid` where a value cannot be passed to a process
 */
export function buildEnvironment(options: {
  readonly given: readonly GivenVariable[];
  readonly places: Places;
  /** What a sandbox sees of the system; null without one. */
  readonly view: SystemView | null;
  /** Marks the attempt's processes where no sandbox holds them together. */
  readonly name: string;
  /** Where the sandbox's proxy listens; null: none. */
  readonly proxy: string | null;
  readonly refuse: (line: string) => void;
}): Environment {
  const { places, view, proxy } = options;
  const allowed = allowedEnvironment(process.env);
  const base = view === null ? allowed : withoutProxies(allowed);
  const path = view === null ? reachablePath(base['PATH'] ?? '') : visiblePath(base['PATH'] ?? '', view);
  const own = { HOME: places.home, TMPDIR: places.temporary };
  const mark: Environment = view === null ? { [cookieVariable]: options.name } : {};
  return { ...base, PATH: path, ...proxyVariables(proxy), ...selectGiven(options), ...own, ...mark };
}

function selectGiven({ given, refuse }: { given: readonly GivenVariable[]; refuse: (line: string) => void }) {
  const selected: Environment = {};
  for (const { name, value } of given) {
    if (isReserved(name)) refuse(`the variable ${name} is not passed on: its name is kept for the service`);
    else selected[checkName(name)] = checkValue(name, value);
  }
  return selected;
}

/** @throws AttemptFailure `environment_invalid` */
export function checkName(name: string): string {
  if (variableName.test(name)) return name;
  const shown = JSON.stringify(name.slice(0, 64));
  throw new AttemptFailure('environment_invalid', `${shown} is no name for an environment variable`);
}

function checkValue(name: string, value: string): string {
  if (!value.includes('\0')) return value;
  throw new AttemptFailure('environment_invalid', `the variable ${name} holds a NUL character`);
}

function withoutProxies(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !proxies.includes(name.toUpperCase())));
}

/** Programs differ in which of the two spellings they read. */
function proxyVariables(origin: string | null): Environment {
  if (origin === null) return {};
  const direct = 'localhost,127.0.0.1,::1';
  const upper = { HTTP_PROXY: origin, HTTPS_PROXY: origin, ALL_PROXY: origin, NO_PROXY: direct };
  const lower = Object.fromEntries(Object.entries(upper).map(([name, value]) => [name.toLowerCase(), value]));
  return { ...upper, ...lower };
}

/** The directories of a search path that this process may look into: others would hide what is behind them. */
function reachablePath(path: string): string {
  const reachable = path.split(delimiter).filter((directory) => {
    try {
      accessSync(directory, constants.X_OK);
      return isAbsolute(directory);
    } catch {
      return false;
    }
  });
  return reachable.length > 0 ? reachable.join(delimiter) : defaultPath;
}

/** The directories of a search path that a sandbox sees, and those where the system's programs are. */
function visiblePath(path: string, { systemPaths }: SystemView): string {
  const isVisible = (directory: string) =>
    systemPaths.some((root) => directory === root || directory.startsWith(root + sep));
  const directories = path.split(delimiter).filter((directory) => isAbsolute(directory) && isVisible(directory));
  return [...new Set([...directories, ...defaultPath.split(delimiter)])].join(delimiter);
}

/** A proxy that wants a password must be given to templates on purpose, as a variable of the environment. */
function holdsCredentials(proxy: string): boolean {
  return proxy.includes('@');
}

/** Set by the service, or able to turn a tool against it. */
const reserved = [
  /^COORDINATOR_/i,
  /^TF_(HTTP_|CLI_|BACKEND_)/i,
  /^(TF_DATA_DIR|TF_WORKSPACE|TF_ENCRYPTION|TF_IN_AUTOMATION|TF_INPUT|CHECKPOINT_DISABLE)$/i,
  /^(HOME|TMPDIR|PWD)$/,
  // What the script's shell reads itself, or does not let be set.
  /^(IFS|ENV|PS\d|OPTIND|PPID|UID|EUID|BASHOPTS|SHELLOPTS|BASH_ENV)$/,
];

function isReserved(name: string): boolean {
  return reserved.some((pattern) => pattern.test(name));
}

/** The name of the variable by which a step reads a template variable. */
export function variableEnvironmentName(name: string): string {
  return `COORDINATOR_VAR_${name.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}`;
}
