import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Whether every user of the machine can read a file. */
export function isReadableByAll(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return (statSync(path).mode & 0o004) !== 0 && isReachableByAll(dirname(path));
  } catch {
    return false;
  }
}

/** Whether everybody may pass through a directory and all above it. */
export function isReachableByAll(directory: string): boolean {
  if ((statSync(directory).mode & 0o001) === 0) return false;
  const above = dirname(directory);
  return above === directory || isReachableByAll(above);
}
