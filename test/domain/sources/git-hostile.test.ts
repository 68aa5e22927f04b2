import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ServiceError } from '#domain/shared/errors.ts';
import { parseOutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import { snapshotGit } from '#domain/sources/git/snapshot.ts';
import { makeGitRoot, Repository, type TestFiles } from '#test/support/programs/git.ts';

/** Repositories that try to make git run a program, or read a file, on the machine of the service. */

const root = makeGitRoot();
const trace = join(mkdtempSync(join(tmpdir(), 'coordinator-test-hostile-')), 'trace');
afterAll(() => {
  root.remove();
  rmSync(join(trace, '..'), { recursive: true, force: true });
});
const policy = parseOutboundPolicy([`file://${root.path}`, '127.0.0.1']);
const snapshot = (url: string, path?: string) => snapshotGit({ url, ref: 'main', path }, { policy, timeoutMs: 20_000 });
const main = 'resource "terraform_data" "x" {}\n';
const script = { script: `#!/bin/sh\ntouch ${trace}\n` };
let made = 0;

function commit(files: TestFiles): Repository {
  const repository = new Repository(join(root.path, `r${made++}`));
  repository.commit({ 'main.tf': main, ...files });
  return repository;
}

/** Replaces the tree of the branch by one with an entry that git would not write itself. */
function plant(repository: Repository, name: string, kind: 'tree' | 'blob', mode: string): void {
  const object = repository.git('rev-parse', kind === 'tree' ? 'HEAD^{tree}' : 'HEAD:main.tf');
  const entry = Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(object, 'hex')]);
  const options = { cwd: repository.path, input: entry, encoding: 'utf8' } as const;
  const tree = execFileSync('git', ['hash-object', '-w', '--literally', '-t', 'tree', '--stdin'], options).trim();
  repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', tree, '-m', 'planted'));
}

describe('the configuration of a repository', () => {
  const settings: readonly [string, string][] = [
    ['core.fsmonitor', `touch ${trace}`],
    ['core.hooksPath', 'hooks'],
    ['core.sshCommand', `touch ${trace}`],
    ['core.alternateRefsCommand', `touch ${trace}`],
    ['uploadpack.packObjectsHook', `touch ${trace}; true`],
    ['filter.evil.smudge', `touch ${trace}`],
    ['filter.evil.process', `touch ${trace}`],
    ['filter.evil.required', 'true'],
    ['diff.evil.textconv', `touch ${trace}`],
  ];

  it('cannot make git run programs, hooks or filters', async () => {
    const repository = commit({
      '.gitattributes': '*.tf filter=evil diff=evil text\n',
      'hooks/post-checkout': script,
      'hooks/post-index-change': script,
      'hooks/reference-transaction': script,
      'hooks/fsmonitor-watchman': script,
    });
    for (const [name, value] of settings) repository.git('config', name, value);
    expect((await snapshot(repository.url)).files['main.tf']).toBe(main);
    expect(existsSync(trace)).toBe(false);
  });

  it('cannot read another repository or a file of the machine by attributes that are a link', async () => {
    const repository = commit({ 'a/main.tf': main, 'a/.gitattributes': { link: '/etc/passwd' } });
    await expect(snapshot(repository.url, 'a')).rejects.toThrow('"a/.gitattributes" must lead to a file');
    const beside = commit({ '.gitattributes': { link: 'b/attributes' }, 'b/attributes': '*.tf filter=evil\n' });
    expect((await snapshot(beside.url)).files['.gitattributes']).toEqual({ link: 'b/attributes' });
  });
});

describe('a submodule', () => {
  it.each([
    `file://${root.path}/r0`,
    'ext::sh -c touch% /tmp/x',
    `--upload-pack=touch ${trace}`,
    '-u./program',
    'ssh://-oProxyCommand=touch/x',
  ])('a submodule at %s is never fetched: a template cannot use it', async (url) => {
    const repository = commit({
      '.gitmodules': `[submodule "s"]\n\tpath = s\n\turl = ${url}\n\tupdate = !touch ${trace}\n`,
    });
    const head = repository.git('rev-parse', 'HEAD');
    repository.git('update-index', '--add', '--cacheinfo', `160000,${head},s`);
    repository.git('commit', '--quiet', '--message', 'a submodule');
    await expect(snapshot(repository.url)).rejects.toThrow('"s" is a submodule');
    expect(existsSync(trace)).toBe(false);
  });

  it('a .gitmodules that is a link reads no file outside of the repository', async () => {
    const repository = commit({ target: '../../../../etc/passwd' });
    const target = repository.git('rev-parse', 'HEAD:target');
    const file = repository.git('rev-parse', 'HEAD:main.tf');
    const entries = `120000 blob ${target}\t.gitmodules\n100644 blob ${file}\tmain.tf\n`;
    const tree = execFileSync('git', ['mktree'], { cwd: repository.path, input: entries, encoding: 'utf8' }).trim();
    repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', tree, '-m', 'planted'));
    await expect(snapshot(repository.url)).rejects.toThrow('".gitmodules" must lead to a file');
  });
});

describe('a tree', () => {
  it.each([
    ['.git', 'tree', '40000'],
    ['.GIT', 'tree', '40000'],
    ['.Git', 'blob', '100644'],
    ['..', 'tree', '40000'],
    ['.', 'blob', '100644'],
    ['../escaped', 'blob', '100644'],
    ['/etc/escaped', 'blob', '100644'],
  ] as const)('a tree with an entry named "%s" (%s) is refused', async (name, kind, mode) => {
    const repository = commit({ '.gitattributes': '*.tf text\n' });
    plant(repository, name, kind, mode);
    await expect(snapshot(repository.url)).rejects.toThrow(ServiceError);
  });

  it('is refused if it links to the directory of git or has files below a link', async () => {
    for (const link of ['.git', '.git/config', '../repository', '../gitconfig', '../credentials', '/proc/self/environ'])
      await expect(snapshot(commit({ 'a.tf': { link } }).url), link).rejects.toThrow('must lead to a file');
  });
});

describe('an address over SSH', () => {
  it.each([
    `ssh://-oProxyCommand=touch%20${encodeURIComponent(trace)}@127.0.0.1:1/x.git`,
    `ssh://git@127.0.0.1:1/-oProxyCommand=touch%20${encodeURIComponent(trace)}`,
    `ssh://git@-oProxyCommand=touch/x.git`,
  ])('cannot hold an option of ssh: %s', async (url) => {
    const credential = { kind: 'ssh_key', privateKey: 'k', knownHosts: '127.0.0.1 ssh-ed25519 AAAA' } as const;
    await expect(snapshotGit({ url, ref: 'main' }, { policy, credential, timeoutMs: 20_000 })).rejects.toThrow(
      ServiceError,
    );
    expect(existsSync(trace)).toBe(false);
  });
});
