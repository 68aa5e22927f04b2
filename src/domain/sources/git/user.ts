import { randomInt } from 'node:crypto';
import { chown, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The range of user ids that systems reserve for dynamic service users. */
const firstUid = 61_184;
const lastUid = 65_519;

const chosen = randomInt(firstUid, lastUid + 1);

export type GitUser = { readonly uid: number; readonly gid: number };

/**
 * The user as whom git runs if this process is root: a user id that nothing else uses. Git reads untrusted content, so it never runs as
 * root. Null: git runs as this process's own user.
 */
export function findGitUser(): GitUser | null {
  return process.getuid?.() === 0 ? { uid: chosen, gid: chosen } : null;
}

/** Whether a file belongs to this process's user, or to a user as whom git may have run. */
export function isOfGit(uid: number): boolean {
  const own = process.getuid?.();
  return uid === own || (own === 0 && uid >= firstUid && uid <= lastUid);
}

/** Makes git's user (`findGitUser`) the owner of the private directory of a fetch and of the files in it. */
export async function giveToGit(directory: string): Promise<void> {
  const user = findGitUser();
  if (user === null) return;
  for (const name of await readdir(directory)) await chown(join(directory, name), user.uid, user.gid);
  await chown(directory, user.uid, user.gid);
}
