import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new directory that other users may traverse, as PostgreSQL and template code need to. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-local-'));
  chmodSync(directory, 0o711);
  return directory;
}

/** The same, removed when the calling test ends. */
export function makeTestDirectory(): string {
  const directory = makeDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
