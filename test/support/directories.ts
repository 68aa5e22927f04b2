import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';

/** A new directory that other users may traverse, as PostgreSQL and template code need to. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-local-'));
  chmodSync(directory, 0o711);
  return directory;
}

/** A new data directory that shares the caches of the test run. */
export function makeDataDirectory(): string {
  const directory = makeDirectory();
  shareCaches(directory);
  return directory;
}

/**
 * Makes a data directory use the caches of the test run. The first process compiles the code and bundles the workflows, and the others
 * load that.
 */
export function shareCaches(dataDir: string): void {
  symlinkSync(join(inject('scratchDirectory'), 'cache'), join(dataDir, 'cache'));
}

/** The same as `makeDirectory`, removed when the calling test ends. */
export function makeTestDirectory(): string {
  const directory = makeDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
