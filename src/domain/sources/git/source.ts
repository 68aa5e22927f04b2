import { z } from 'zod';
import { checkFilePath } from '../files.ts';

/** The location of a template in git that a spec names. Publication checks whether the service may connect to it. */

const scpLike = /^[^/]+@[^/:]+:/;

/** Why the form of a git URL is invalid, as the end of a sentence; null if it is valid. */
function checkGitUrl(text: string): string | null {
  if (scpLike.test(text)) return 'must be written as "ssh://git@host/path", not as "git@host:path"';
  if (!/^(https?|ssh|file):\/\//i.test(text) || !URL.canParse(text)) {
    return 'expected a URL such as "https://github.com/acme/network.git" or "ssh://git@github.com/acme/network.git"';
  }
  const { password, username, protocol, search, hash } = new URL(text);
  if (password !== '' || (username !== '' && protocol !== 'ssh:')) {
    return 'must not carry a user name or password: name a connection that holds them';
  }
  if (search !== '' || hash !== '') return 'must not have "?" or "#": the version belongs in "ref"';
  return /[\s\u0000-\u001f\u007f]/.test(text) ? 'must have no spaces or control characters' : null;
}

const forbiddenInRef = /[\s\u0000-\u001f\u007f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|^[-/.]|\.lock(\/|$)|[/.]$/;

/** A branch, a tag or a full commit id that follows git's rules for names. It refuses options and revision expressions. */
export const GitRef = z
  .string()
  .min(1)
  .max(255)
  .refine((ref) => !forbiddenInRef.test(ref) && ref !== '@', {
    error: 'expected a branch, a tag or a full commit id, such as "main", "v1.4.0" or "refs/heads/main"',
  });

const Directory = z.string().superRefine((path, context) => {
  const message = checkFilePath(path);
  if (message !== null) context.addIssue({ code: 'custom', message, input: path });
});

const GitUrl = z
  .string()
  .max(2_000)
  .superRefine((text, context) => {
    const message = checkGitUrl(text);
    if (message !== null) context.addIssue({ code: 'custom', message, input: text });
  });

export const GitSource = z.strictObject({
  /** The connection whose credentials open the repository. */
  connection: z.string().min(1).max(63).optional(),
  url: GitUrl,
  ref: GitRef,
  /** The directory of the template; the root of the repository if it is absent. */
  path: Directory.optional(),
});
export type GitSource = z.output<typeof GitSource>;
