import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

export const hostDirectoryPrefix = 'host-';

/** Returns a new path for the directory of a host. */
export function newHostDirectory(root: string): string {
  return join(root, `${hostDirectoryPrefix}${randomBytes(8).toString('hex')}`);
}
