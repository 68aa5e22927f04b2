import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Whether every user of the machine can read a file. */
export function isWorldReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return (statSync(path).mode & 0o004) !== 0 && isWorldTraversable(dirname(path));
  } catch {
    return false;
  }
}

/** Whether every user may pass through a directory and all of its parents. */
export function isWorldTraversable(directory: string): boolean {
  if ((statSync(directory).mode & 0o001) === 0) return false;
  const above = dirname(directory);
  return above === directory || isWorldTraversable(above);
}
