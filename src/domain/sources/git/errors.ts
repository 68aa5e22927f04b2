import type { RuleCode } from '#domain/error-codes.ts';
import { ServiceError, Unavailable } from '#domain/shared/errors.ts';
import type { GitOutcome } from './process.ts';

type Explanation = {
  readonly pattern: RegExp;
  readonly message: string;
  readonly isTransient?: true;
  /** The error code; by default `source_unreadable`. */
  readonly code?: RuleCode;
};

/** Patterns of git's output (in English, `LC_ALL=C`) with explanations for the publisher. The first match counts. */
const explanations: readonly Explanation[] = [
  {
    pattern: /bwrap:/,
    message: 'ssh cannot run as a user without a name: an operator must name an account in COORDINATOR_USER',
    isTransient: true,
  },
  {
    pattern: /out of memory|[cm]alloc failed|mmap failed|cannot allocate memory/i,
    message: 'the repository is too large: git needs more memory for it than it gets',
    code: 'source_too_large',
  },
  { pattern: /file too large/i, message: 'the repository is too large', code: 'source_too_large' },
  {
    pattern: /couldn't find remote ref|not our ref|no such remote ref|remote ref .* not found/i,
    message: 'the repository has no such ref',
    code: 'source_ref_missing',
  },
  {
    pattern: /does not allow request for unadvertised object/i,
    message: 'the server does not serve commits by id: name a branch or a tag that contains it',
    code: 'source_ref_missing',
  },
  {
    pattern: /host key verification failed|no .* host key is known/i,
    message: 'the key of the host is not the one that the connection expects',
  },
  {
    pattern: /could not read (username|password)|terminal prompts disabled/i,
    message: 'the repository does not exist, or needs credentials: name a connection that holds them',
    code: 'source_credential_unfit',
  },
  {
    pattern: /authentication failed|returned error: 40[13]|permission denied|access denied|invalid credentials/i,
    message: 'the server refused the credentials',
    code: 'source_credential_unfit',
  },
  {
    pattern: /returned error: 3\d\d|redirect/i,
    message: 'the server redirects elsewhere: use the address that it redirects to',
  },
  {
    pattern:
      /repository .*not found|returned error: 404|does not appear to be a git repository|no such file or directory/i,
    message: 'there is no such repository, or the credentials do not open it',
  },
  {
    pattern: /certificate|ssl/i,
    message: 'the certificate of the server is not trusted',
  },
  {
    pattern:
      /could not resolve|failed to connect|couldn't connect|connection (refused|reset|timed out|closed)|timed out|no route to host|early eof|hung up|returned error: 5\d\d/i,
    message: 'the server cannot be reached now',
    isTransient: true,
  },
];

/** The public error for a failed git command. What git printed goes only to the log, without secrets. */
export function explainGit(outcome: GitOutcome, secrets: readonly string[]): ServiceError {
  const cause = new Error(`git exited with ${outcome.code}: ${redact(outcome.stderr, secrets)}`);
  const known = explanations.find(({ pattern }) => pattern.test(outcome.stderr));
  if (known?.isTransient) return new Unavailable(known.message, { cause });
  const code = known?.code ?? 'source_unreadable';
  return new ServiceError('unprocessable', known?.message ?? 'git cannot read the repository', { code, cause });
}

function redact(text: string, secrets: readonly string[]): string {
  const spellings = secrets.filter((secret) => secret !== '').flatMap((secret) => [secret, encodeURIComponent(secret)]);
  return spellings.reduce((rest, secret) => rest.replaceAll(secret, '***'), text).slice(0, 4_000);
}
