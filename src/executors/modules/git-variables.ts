import type { Environment } from '../shared/environment.ts';

interface Given {
  readonly name: string;
  readonly value: string;
}

/** Where git finds, for its programs in a sandbox, what lies below the URL of a connection. */
export interface Redirection {
  readonly url: string;
  readonly place: string;
}

/**
 * Variables by which git reads repositories of connections at other places. Among several that fit, git takes the longest URL. What the
 * run's own variables configure stays.
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

/** The ways to write what begins with the URL of a connection, with what each becomes at its place. */
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
  // The form of scp has no port.
  if (port === '' || port === '22') written.push([`${login}${hostname}:${below}`, '/']);
  return written;
}

/** Decodes the user of a URL. Git keeps an invalid escape as it is written. */
function decodeUser(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
}
