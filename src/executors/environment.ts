import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute } from 'node:path';

/** What of the worker's environment may reach an executor and the programs it runs. Anything else stays behind. */

const passedOn = ['PATH', 'LANG', 'LANGUAGE', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'];
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

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

/** The directories of a search path that this process may look into: others would hide what is behind them. */
export function reachablePath(path: string): string {
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

/** A proxy that wants a password must be given to templates on purpose, as a variable of the environment. */
function holdsCredentials(proxy: string): boolean {
  return proxy.includes('@');
}

/** Set by the service, or able to turn a tool against it. */
const reserved = [
  /^COORDINATOR_/i,
  /^TF_(HTTP_|CLI_|BACKEND_)/i,
  /^(TF_DATA_DIR|TF_WORKSPACE|TF_IN_AUTOMATION|TF_INPUT|CHECKPOINT_DISABLE)$/i,
  /^(HOME|TMPDIR|PWD)$/,
];

export function isReserved(name: string): boolean {
  return reserved.some((pattern) => pattern.test(name));
}

/** The name of the variable by which a step reads a template variable. */
export function variableEnvironmentName(name: string): string {
  return `COORDINATOR_VAR_${name.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}`;
}
