import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeGitDirectory, removeLeftGitDirectories } from '#domain/sources/git/directories.ts';

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'coordinator-test-'));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

/** A directory with an SSH key, which a killed process left. */
async function leave(): Promise<string> {
  const script = `const { makeGitDirectory } = await import('#domain/sources/git/directories.ts');
console.log(await makeGitDirectory(process.argv[1]));
setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, parent]);
  const [path] = await once(child.stdout, 'data');
  const directory = String(path).trim();
  await writeFile(join(directory, 'key'), 'a key', { mode: 0o600 });
  child.kill('SIGKILL');
  await once(child, 'exit');
  return directory;
}

it.runIf(process.platform === 'linux')(
  'the cleanup removes the git directories that a killed process left, and nothing else',
  async () => {
    const left = basename(await leave());
    const own = basename(await makeGitDirectory(parent));
    await mkdir(join(parent, 'coordinator-git-of-somebody'));
    expect(await readdir(parent)).toContain(left);
    await removeLeftGitDirectories(parent);
    expect((await readdir(parent)).sort()).toEqual([own, 'coordinator-git-of-somebody'].sort());
  },
);
