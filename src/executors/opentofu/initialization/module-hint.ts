const host = '[A-Za-z0-9.-]+(?::\\d+)?';

/** A repository or a registry that `init` could not read without a connection. */
export interface MissingConnection {
  /** What happened and which connection would help, as a sentence without a period. */
  readonly hint: string;
  /** The address of the repository, if the tool could not even try to reach it, so that nobody knows whether it can be reached. */
  readonly untried: URL | null;
}

interface Sign {
  readonly pattern: RegExp;
  readonly kind: 'git' | 'registry';
  readonly happened: string;
  readonly isUntried?: true;
}

/**
 * Messages of git and the tools about a repository or a registry that needs a connection, and the kind of connection that would give
 * access.
 */
const signs: readonly Sign[] = [
  // Git asks for a user name, but nobody can answer.
  {
    pattern: new RegExp(`could not read (?:Username|Password) for '(https?://)(?:[^@/']*@)?(${host})`),
    kind: 'git',
    happened: 'wants credentials',
  },
  // SSH cannot leave a sandbox, and has no key there.
  {
    pattern: new RegExp(`(ssh://(?:[^@/\\s"']*@)?)(${host})/[\\s\\S]*Could not read from remote repository`),
    kind: 'git',
    happened: 'is read over SSH, which takes a connection',
    isUntried: true,
  },
  {
    pattern: new RegExp(`()from (${host}):[\\s\\S]{0,400}?\\b40[13] (?:Unauthorized|Forbidden)`),
    kind: 'registry',
    happened: 'wants credentials',
  },
];

/**
 * Finds in the output of `init` which connection was missing; null if the output does not say so. Messages may have line breaks anywhere.
 */
export function findMissingConnection(printed: string): MissingConnection | null {
  const text = printed.replace(/\n[│|]? */g, ' ');
  for (const { pattern, kind, happened, isUntried = false } of signs) {
    const [, scheme = '', name] = pattern.exec(text) ?? [];
    if (name === undefined) continue;
    const what =
      kind === 'git' ? `a git connection whose URL begins with ${scheme}${name}/` : `a registry connection for ${name}`;
    const hint = `${name} ${happened}: bind ${what} to the environment or its project`;
    return { hint, untried: isUntried && URL.canParse(`${scheme}${name}/`) ? new URL(`${scheme}${name}/`) : null };
  }
  return null;
}
