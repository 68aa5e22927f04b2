const host = '[A-Za-z0-9.-]+(?::\\d+)?';

/** What git and the tools print about a repository or a registry that wants credentials, and the kind of connection that would have them. */
const signs: readonly { readonly pattern: RegExp; readonly kind: 'git' | 'registry' }[] = [
  // git wants a user name, and nobody is there to be asked.
  { pattern: new RegExp(`could not read (?:Username|Password) for '(https?://)(?:[^@/']*@)?(${host})`), kind: 'git' },
  // There is no way out of a sandbox for ssh, and no key.
  {
    pattern: new RegExp(`(ssh://(?:[^@/\\s"']*@)?)(${host})/[\\s\\S]*Could not read from remote repository`),
    kind: 'git',
  },
  { pattern: new RegExp(`()from (${host}):[\\s\\S]{0,400}?\\b40[13] (?:Unauthorized|Forbidden)`), kind: 'registry' },
];

/** Says which connection `init` lacked, if what it printed looks like that; else null. Lines of a message may be broken anywhere. */
export function hintAtConnection(printed: string): string | null {
  const text = printed.replace(/\n[│|]? */g, ' ');
  for (const { pattern, kind } of signs) {
    const [, scheme = '', name] = pattern.exec(text) ?? [];
    if (name === undefined) continue;
    const what =
      kind === 'git' ? `a git connection whose URL begins with ${scheme}${name}/` : `a registry connection for ${name}`;
    return `${name} wants credentials: bind ${what} to the environment or its project`;
  }
  return null;
}
