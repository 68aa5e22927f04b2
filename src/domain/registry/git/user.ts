import { randomInt } from 'node:crypto';
import { chown, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Ids that systems keep for users which exist as long as a service does. */
const firstUid = 61_184;
const lastUid = 65_519;

const chosen = randomInt(firstUid, lastUid + 1);

export type GitUser = { readonly uid: number; readonly gid: number };

/**
 * Who git runs as where this process is root: a user id that nobody else has a use for. Git reads what strangers wrote,
 * and is never root. Null: as this process's own user.
 */
export function findGitUser(): GitUser | null {
  return process.getuid?.() === 0 ? { uid: chosen, gid: chosen } : null;
}

/** Gives the private directory of a fetch, and what was written into it so far, to the user that git runs as. */
export async function giveToGit(directory: string): Promise<void> {
  const user = findGitUser();
  if (user === null) return;
  for (const name of await readdir(directory)) await chown(join(directory, name), user.uid, user.gid);
  await chown(directory, user.uid, user.gid);
}
