import { accessSync, constants } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { StartError } from '../errors.ts';
import type { Account } from './account.ts';

const sharedTemporaryDirectory = '/tmp';

/**
 * Makes this process the account's, for good: root's rights cannot come back. Call it once everything is loaded, read and
 * bound that the account could not load, read or bind itself.
 * @throws StartError where the process would go on with rights of root
 */
export function dropPrivileges(account: Account | null): void {
  if (account === null || process.getuid?.() !== 0) return;
  // The cache of compiled code stays root's: what the account could write there would be run by root.
  flushCompileCache();
  process.setgroups?.([]);
  process.setgid?.(account.gid);
  process.setuid?.(account.uid);
  if (process.getuid() === 0 || process.geteuid?.() === 0 || canReturn()) {
    throw new StartError(`This process could not give up root's rights for those of user ${account.uid}.`);
  }
  if (!isWritable(tmpdir())) process.env['TMPDIR'] = sharedTemporaryDirectory;
}

function canReturn(): boolean {
  try {
    process.setuid?.(0);
    return true;
  } catch {
    // Refused, which is what is wanted.
    return false;
  }
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
