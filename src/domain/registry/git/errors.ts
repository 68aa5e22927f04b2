import { ServiceError, Unavailable } from '#domain/shared/errors.ts';
import type { GitOutcome } from './process.ts';

type Meaning = { readonly said: RegExp; readonly message: string; readonly isPassing?: true };

/** What git says (in English, `LC_ALL=C`) and what that means for who published; the first that fits counts. */
const meanings: readonly Meaning[] = [
  {
    said: /bwrap:/,
    message: 'ssh does not run for a user without a name here: the operator names an account in COORDINATOR_USER',
    isPassing: true,
  },
  { said: /file too large/i, message: 'the repository is larger than may be read' },
  {
    said: /couldn't find remote ref|not our ref|no such remote ref|remote ref .* not found/i,
    message: 'the repository has no such ref',
  },
  {
    said: /does not allow request for unadvertised object/i,
    message: 'the server gives no commit by its id: name a branch or a tag that holds it',
  },
  {
    said: /host key verification failed|no .* host key is known/i,
    message: 'the host does not show the key that its connection expects',
  },
  {
    said: /could not read (username|password)|terminal prompts disabled/i,
    message: 'the repository does not exist, or needs credentials: name a connection that holds them',
  },
  {
    said: /authentication failed|returned error: 40[13]|permission denied|access denied|invalid credentials/i,
    message: 'the server refused the credentials',
  },
  {
    said: /returned error: 3\d\d|redirect/i,
    message: 'the server redirects elsewhere: use the address that it redirects to',
  },
  {
    said: /repository .*not found|returned error: 404|does not appear to be a git repository|no such file or directory/i,
    message: 'there is no such repository, or the credentials do not open it',
  },
  {
    said: /certificate|ssl/i,
    message: 'the server shows no certificate that is trusted',
  },
  {
    said: /could not resolve|failed to connect|couldn't connect|connection (refused|reset|timed out|closed)|timed out|no route to host|early eof|hung up|returned error: 5\d\d/i,
    message: 'the server cannot be reached now',
    isPassing: true,
  },
];

/** A failed git command as an error for people. What git printed goes to the log alone, without secrets. */
export function explainGit(outcome: GitOutcome, secrets: readonly string[]): ServiceError {
  const cause = new Error(`git exited with ${outcome.code}: ${withoutSecrets(outcome.stderr, secrets)}`);
  const meaning = meanings.find(({ said }) => said.test(outcome.stderr));
  if (meaning?.isPassing) return new Unavailable(meaning.message, { cause });
  return new ServiceError('unprocessable', meaning?.message ?? 'git cannot read the repository', { cause });
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const spellings = secrets.filter((secret) => secret !== '').flatMap((secret) => [secret, encodeURIComponent(secret)]);
  return spellings.reduce((rest, secret) => rest.replaceAll(secret, '***'), text).slice(0, 4_000);
}
