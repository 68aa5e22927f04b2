const host = '[A-Za-z0-9.-]+(?::\\d+)?';

/** A repository or a registry that `init` could not read without a connection. */
export interface MissingConnection {
  /** What happened and which connection would help, as a sentence without a full stop. */
  readonly hint: string;
  /** Where the repository is, if the tool could not even try: whether it can be reached is not known. */
  readonly untried: URL | null;
}

interface Sign {
  readonly pattern: RegExp;
  readonly kind: 'git' | 'registry';
  readonly happened: string;
  readonly isUntried?: true;
}

/** What git and the tools print about a repository or a registry that takes a connection, and the kind of connection that would open it. */
const signs: readonly Sign[] = [
  // git wants a user name, and nobody is there to be asked.
  {
    pattern: new RegExp(`could not read (?:Username|Password) for '(https?://)(?:[^@/']*@)?(${host})`),
    kind: 'git',
    happened: 'wants credentials',
  },
  // There is no way out of a sandbox for ssh, and no key.
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

/** Finds which connection `init` lacked, if what it printed looks like that; else null. Lines of a message may be broken anywhere. */
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
