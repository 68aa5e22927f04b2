const passedOn = ['PATH', 'LANG', 'LANGUAGE', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
export const proxyVariableNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'];
export const defaultSearchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export type Environment = Record<string, string>;

/** The variables of the worker that programs may get: search path, locale, time zone, trusted certificate authorities and proxies. */
export function allowedEnvironment(environment: Readonly<Record<string, string | undefined>>): Environment {
  const allowed: Environment = { PATH: defaultSearchPath };
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === '') continue;
    if (passedOn.includes(name) || name.startsWith('LC_')) allowed[name] = value;
    if (proxyVariableNames.includes(name.toUpperCase()) && !holdsCredentials(value)) allowed[name] = value;
  }
  return allowed;
}

/**
 * Whether a proxy URL contains a password. Programs then do not get it. An operator can give it to templates as a variable of the
 * environment.
 */
function holdsCredentials(proxy: string): boolean {
  return proxy.includes('@');
}
