import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The path of the tool for OpenTofu templates: `tofu` on PATH or in the cache, else `terraform`; null: there is none. */
export function findTofu(): string | null {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const candidates = [
    ...path.map((directory) => join(directory, 'tofu')),
    join(cache, 'delivery-coordinator', 'tofu-1.12.6', 'tofu'),
    ...path.map((directory) => join(directory, 'terraform')),
  ];
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
