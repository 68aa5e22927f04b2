import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeCachePath } from '#config';
import { openDataDirectory } from '#local/data-directory.ts';
import { makeTestDirectory } from '#test/support/directories.ts';

/** A data directory whose cache of code contains one file, and has these permissions. */
function makeCache(mode: number): { readonly dataDir: string; readonly code: string } {
  const dataDir = makeTestDirectory();
  const code = join(codeCachePath(dataDir), 'workflows-1.js');
  mkdirSync(codeCachePath(dataDir));
  writeFileSync(code, 'cached');
  chmodSync(codeCachePath(dataDir), mode);
  return { dataDir, code };
}

describe('opening a data directory', () => {
  it('makes a cache of code that only its user may enter, if there is none', () => {
    const dataDir = makeTestDirectory();
    openDataDirectory(dataDir);
    expect(statSync(codeCachePath(dataDir)).mode & 0o777).toBe(0o700);
  });

  it.each([0o777, 0o775, 0o757])(
    'empties a cache of code with the permissions %o, because others could have written it',
    (mode) => {
      const { dataDir, code } = makeCache(mode);
      openDataDirectory(dataDir);
      expect(existsSync(code)).toBe(false);
      expect(statSync(codeCachePath(dataDir)).mode & 0o777).toBe(0o700);
    },
  );

  it.each([0o755, 0o700])('keeps a cache of code with the permissions %o', (mode) => {
    const { dataDir, code } = makeCache(mode);
    openDataDirectory(dataDir);
    expect(existsSync(code)).toBe(true);
  });
});
