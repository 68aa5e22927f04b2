import { accessSync, constants } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { StartError } from '../errors.ts';
import type { Account } from './account.ts';

const sharedTemporaryDirectory = '/tmp';

/**
 * Drops root's privileges for good and continues as the account. Call it after loading code, reading files and binding
 * ports that the account has no access to.
 * @throws StartError if the process would keep privileges of root
 */
export function dropPrivileges(account: Account | null): void {
  if (account === null || process.getuid?.() !== 0) return;
  // The cache of compiled code must stay root's, because root would execute what the account writes there.
  flushCompileCache();
  process.setgroups?.([]);
  process.setgid?.(account.gid);
  process.setuid?.(account.uid);
  if (process.getuid() === 0 || process.geteuid?.() === 0 || canRegainRoot()) {
    throw new StartError(`This process could not drop root's privileges and become user ${account.uid}.`);
  }
  if (!isWritable(tmpdir())) process.env['TMPDIR'] = sharedTemporaryDirectory;
}

function canRegainRoot(): boolean {
  try {
    process.setuid?.(0);
    return true;
  } catch {
    // The system refused to return to root, as it should.
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
