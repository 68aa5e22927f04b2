import { z } from 'zod';
import type { GitCredential } from '#domain/sources/git/access.ts';
import { canBeUrl, defineKind, field, nothing, Secret, SecretText } from './kind.ts';

const expected = {
  error:
    'expected where repositories begin, such as "https://git.example.com/acme/" or "ssh://git@git.example.com/acme/"',
};
/** A URL without password, query or fragment, and with a user only for SSH. */
const GitPrefix = z
  .string()
  .max(2_000)
  .regex(/^(?:https?:\/\/|ssh:\/\/(?:[^\s@?#/:]+@)?)[^\s@?#/]+(?:\/[^\s?#]*)?$/, expected)
  .refine(canBeUrl, expected);

const Config = z.strictObject({
  url: field(GitPrefix, 'URL', 'The credentials open repositories below this URL and no others.'),
});

const Token = z.strictObject({
  username: field(Secret.max(255).default('git'), 'User name', 'What the host wants beside a token; often anything.'),
  token: field(Secret, 'Access token', 'It needs to read repositories only.'),
});
const Key = z.strictObject({
  private_key: field(
    SecretText.regex(/^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----/, { error: 'expected a private key in PEM' }),
    'Private key',
    'In PEM and without a passphrase, such as a deploy key.',
  ),
  known_hosts: field(SecretText, 'Known hosts', "The host's keys, as ssh-keyscan prints them."),
});
const Credentials = z.union([Token, Key]);

/** Opens private repositories of templates. */
export const git = defineKind({
  summary: 'Publish templates from private repositories.',
  config: Config,
  credentials: Credentials,
  forms: [
    { when: z.object({ url: z.string().regex(/^ssh:/) }), credentials: Key },
    { when: z.object({ url: z.string() }), credentials: Token },
  ],
  urls: ({ url }) => [url],
  deliver: () => nothing,
});

/** The credential in the form that git gets. */
export function toGitCredential(credentials: z.output<typeof Credentials>): GitCredential {
  if ('token' in credentials) {
    return { kind: 'password', username: credentials.username, password: credentials.token };
  }
  return { kind: 'ssh_key', privateKey: credentials.private_key, knownHosts: credentials.known_hosts };
}

/**
 * Whether a repository lies below the URL of a connection: same scheme, user, host and port, and a path that continues its path after a
 * slash. Credentials are sent nowhere else, whatever a template names.
 */
export function isBelow(repository: string, prefix: string): boolean {
  const [below, above] = [new URL(repository), new URL(prefix)];
  const isSameHost = (['protocol', 'username', 'host'] as const).every((part) => below[part] === above[part]);
  const path = above.pathname.endsWith('/') ? above.pathname : `${above.pathname}/`;
  // Git decodes the path, so an encoded separator could escape from the prefix.
  if (/%2f|%5c|%00/i.test(below.pathname)) return false;
  return isSameHost && (below.pathname === above.pathname || below.pathname.startsWith(path));
}
