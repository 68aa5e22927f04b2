import type { Environment } from '../shared/environment.ts';

interface Given {
  readonly name: string;
  readonly value: string;
}

/** Replaces the beginning of addresses below the URL of a connection by an address that git in a sandbox can reach. */
export interface Redirection {
  readonly url: string;
  readonly place: string;
}

/**
 * Variables that make git read the repositories of connections at other addresses. If several connections match, git uses the one with the
 * longest URL. Settings in the run's own variables are kept.
 */
export function gitVariables(redirections: readonly Redirection[], given: readonly Given[]): Environment {
  const count = given.findLast(({ name }) => name === 'GIT_CONFIG_COUNT')?.value ?? '0';
  const first = /^\d{1,4}$/.test(count) ? Number(count) : 0;
  const rules = redirections.flatMap(({ url, place }) =>
    spellingsOf(url).map(([spelling, suffix]) => [`url.${place}${suffix}.insteadOf`, spelling] as const),
  );
  const entries = rules.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key] as const,
    [`GIT_CONFIG_VALUE_${first + index}`, value] as const,
  ]);
  return rules.length === 0 ? {} : { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(first + rules.length) };
}

/** All spellings of the beginning of a connection's URL, each with the path that replaces it. */
function spellingsOf(text: string): [string, string][] {
  const bare = text.replace(/\/$/, '');
  const written: [string, string][] = [
    [`${bare}/`, '/'],
    ...(bare === text ? ([[bare, '']] satisfies [string, string][]) : []),
  ];
  const { protocol, username, hostname, port, pathname } = new URL(text);
  if (protocol !== 'ssh:') return written;
  const login = username === '' ? '' : `${decodeUser(username)}@`;
  const path = pathname.replace(/^\/|\/$/g, '');
  const otherPort = port === '' ? `${login}${hostname}:22` : port === '22' ? `${login}${hostname}` : null;
  const below = path === '' ? '' : `${path}/`;
  if (otherPort !== null) written.push([`ssh://${otherPort}/${below}`, '/']);
  // The scp form has no port.
  if (port === '' || port === '22') written.push([`${login}${hostname}:${below}`, '/']);
  return written;
}

/** Decodes the user of a URL. Git keeps an invalid escape as it is written. */
function decodeUser(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
}
