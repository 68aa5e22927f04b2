import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ServiceError } from '#domain/shared/errors.ts';
import { parseOutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import { bytesOf, isExecutable, isLink } from '#domain/sources/files.ts';
import type { GitCredential } from '#domain/sources/git/access.ts';
import { runGit } from '#domain/sources/git/process.ts';
import { countRefs, type SnapshotOptions, snapshotGit } from '#domain/sources/git/snapshot.ts';
import { giveToGit } from '#domain/sources/git/user.ts';
import { type GitServer, makeGitRoot, Repository, serveGit } from '#test/support/programs/git.ts';

const root = makeGitRoot();
const policy = parseOutboundPolicy([`file://${root.path}`, '127.0.0.1', 'git.test']);
const main = 'resource "terraform_data" "x" {}\n';
let made = 0;

const repository = () => new Repository(join(root.path, `r${made++}`));

const snapshot = (source: { url: string; ref?: string; path?: string }, options: Partial<SnapshotOptions> = {}) =>
  snapshotGit({ ref: 'main', ...source }, { policy, timeoutMs: 20_000, ...options });

/** The message of the refusal, with everything that a log would show of it. */
async function refusalOf(outcome: Promise<unknown>): Promise<{ message: string; kind: string; everything: string }> {
  const error = await outcome.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error('expected a refusal', { cause: error });
  const everything = `${error.message}\n${error.stack}\n${error.cause instanceof Error ? error.cause.stack : ''}`;
  return { message: error.message, kind: error.kind, everything };
}

/** A temporary directory of this file's own, so that what others leave there does not count. */
const commonTemporary = process.env['TMPDIR'];
process.env['TMPDIR'] = mkdtempSync(join(tmpdir(), 'coordinator-test-sources-'));
const ownTemporary = process.env['TMPDIR'];
chmodSync(ownTemporary, 0o711);
const leftovers = () => readdirSync(ownTemporary);

afterAll(() => {
  root.remove();
  rmSync(ownTemporary, { recursive: true, force: true });
  // The process runs other test files after this one.
  if (commonTemporary === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = commonTemporary;
});

describe('a repository that is slow or too large', () => {
  it('a repository whose pack unpacks to more than git may hold is refused before git holds it', async () => {
    const hostile = repository();
    hostile.commit({ 'main.tf': main });
    hostile.git('config', 'core.compression', '1');
    const tree = hostile.git('rev-parse', 'HEAD^{tree}');
    const head = `tree ${tree}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\n`;
    const commit = Buffer.concat([Buffer.from(head), Buffer.alloc(500 * 1024 * 1024, ' ')]);
    const hash = ['hash-object', '-t', 'commit', '-w', '--stdin'];
    const id = execFileSync('git', hash, { cwd: hostile.path, input: commit, encoding: 'utf8' }).trim();
    hostile.git('update-ref', 'refs/heads/main', id);
    const server = await serveGit(root.path, () => false);
    try {
      const url = `http://127.0.0.1:${server.port}/${basename(hostile.path)}/.git`;
      const refused = await refusalOf(snapshot({ url }, { timeoutMs: 100_000 }));
      expect(refused.everything).toMatch(/out of memory|alloc failed|mmap failed|cannot allocate/i);
      expect(refused).toMatchObject({
        kind: 'unprocessable',
        message: 'the repository is too large: git needs more memory for it than it gets',
      });
    } finally {
      await server.close();
    }
  }, 120_000);

  it('repositories that hang do not block other callers: each caller and each owner has two places', async () => {
    const server = await serveGit(root.path, () => true);
    const source = repository();
    source.commit({ 'main.tf': main });
    try {
      const url = `http://127.0.0.1:${server.port}/hangs`;
      const mine = (caller: string, owner: string) =>
        refusalOf(snapshot({ url }, { timeoutMs: 3_000, holders: [caller, owner] }));
      const hanging = [mine('mallory', 'one'), mine('mallory', 'two'), mine('eve', 'one')];
      expect(await mine('mallory', 'three')).toMatchObject({ kind: 'limited' });
      expect(await mine('bob', 'one')).toMatchObject({ kind: 'limited' });
      expect((await snapshot({ url: source.url }, { holders: ['alice', 'hers'] })).commit).toHaveLength(40);
      expect((await Promise.all(hanging)).map(({ kind }) => kind)).toEqual(hanging.map(() => 'unavailable'));
    } finally {
      await server.close();
    }
  });

  it('one of the repositories that hang in all places is aborted, with an error, for a waiting repository', async () => {
    const server = await serveGit(root.path, () => true);
    const source = repository();
    source.commit({ 'main.tf': main });
    try {
      const url = `http://127.0.0.1:${server.port}/hangs`;
      const hanging = Array.from({ length: 6 }, (_, n) =>
        refusalOf(snapshot({ url }, { keepsPlaceMs: 0, holders: [`caller ${n}`, `owner ${n}`] })),
      );
      expect((await snapshot({ url: source.url }, { holders: ['alice', 'hers'] })).commit).toHaveLength(40);
      expect(await Promise.race(hanging)).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('while others waited'),
      });
      await server.close();
      const others = (await Promise.all(hanging)).filter(({ message }) => !message.includes('while others'));
      expect(others).toHaveLength(5);
    } finally {
      await server.close();
    }
  });
});

describe('a snapshot of a git source', () => {
  let source: Repository;
  let first: string;
  let second: string;

  beforeAll(() => {
    source = repository();
    first = source.commit({ 'main.tf': main, 'modules/a/main.tf': '# a\n', 'run.sh': { script: '#!/bin/sh\n' } });
    source.git('tag', 'v1');
    source.git('tag', '--annotate', '--message', 'one', 'v1-annotated');
    source.git('branch', 'feature/old');
    second = source.commit({ 'main.tf': `${main}# changed\n` });
    source.git('branch', 'both');
    source.git('tag', 'both', first);
  });

  afterEach(() => {
    expect(leftovers()).toEqual([]);
  });

  it('holds the files of the commit that a branch names', async () => {
    expect(await snapshot({ url: source.url })).toEqual({
      commit: second,
      files: { 'main.tf': `${main}# changed\n`, 'modules/a/main.tf': '# a\n', 'run.sh': '#!/bin/sh\n' },
      leftOut: [],
    });
  });

  it('resolves branches, tags, annotated tags, full names, commit ids and HEAD to their commit', async () => {
    for (const ref of ['v1', 'v1-annotated', 'feature/old', 'refs/tags/v1', 'refs/heads/feature/old', first]) {
      expect((await snapshot({ url: source.url, ref })).commit, ref).toBe(first);
    }
    expect((await snapshot({ url: source.url, ref: 'HEAD' })).commit).toBe(second);
  });

  it('does not change when the branch moves on', async () => {
    const moving = repository();
    moving.commit({ 'main.tf': main });
    const before = await snapshot({ url: moving.url });
    moving.commit({ 'main.tf': '# moved' });
    expect((await snapshot({ url: moving.url, ref: before.commit })).files).toEqual(before.files);
  });

  it('a snapshot of an unknown ref says so, and how to name a commit', async () => {
    const unknown = await refusalOf(snapshot({ url: source.url, ref: 'nope' }));
    expect(unknown).toMatchObject({ kind: 'unprocessable', message: 'the repository has no branch or tag "nope"' });
    const short = await refusalOf(snapshot({ url: source.url, ref: first.slice(0, 8) }));
    expect(short.message).toMatch(/write all 40 digits/);
    const missing = await refusalOf(snapshot({ url: source.url, ref: '0123456789'.repeat(4) }));
    expect(missing.message).toBe('the repository has no such ref');
    const both = await refusalOf(snapshot({ url: source.url, ref: 'both' }));
    expect(both.message).toBe('"both" is a branch and a tag: write "refs/heads/both" or "refs/tags/both"');
  });

  it('a snapshot of a missing repository says so', async () => {
    const { message } = await refusalOf(snapshot({ url: `file://${root.path}/nowhere` }));
    expect(message).toBe('there is no such repository, or the credentials do not open it');
  });

  it('a snapshot of a path holds its files, the local modules that they refer to, and nothing else', async () => {
    const mono = repository();
    mono.commit({
      'live/prod/main.tf': 'module "n" {\n  source = "../../modules/network"\n}\nmodule "r" { source="acme/x/aws" }\n',
      'live/prod/.terraform.lock.hcl': '# lock',
      'modules/network/main.tf.json': '{"module": {"d": {"source": "../dns//sub"}}}',
      'modules/dns/sub/main.tf': '# dns',
      'modules/other/main.tf': '# not used',
      'live/dev/main.tf': '# not used',
      'top.tf': 'module "up" { source = "../../../../etc" }',
    });
    const taken = await snapshot({ url: mono.url, path: 'live/prod' });
    expect(Object.keys(taken.files).sort()).toEqual([
      'live/prod/.terraform.lock.hcl',
      'live/prod/main.tf',
      'modules/dns/sub/main.tf',
      'modules/network/main.tf.json',
    ]);
    const alone = await snapshot({ url: mono.url, path: 'modules/other' });
    expect(alone.files).toEqual({ 'modules/other/main.tf': '# not used' });
    expect(Object.keys((await snapshot({ url: mono.url })).files)).toHaveLength(7);
  });

  it('a snapshot of an unknown path, or of the path of a file, says what is wrong', async () => {
    expect((await refusalOf(snapshot({ url: source.url, path: 'modules/b' }))).message).toBe(
      'the repository has no directory "modules/b"',
    );
    expect((await refusalOf(snapshot({ url: source.url, path: 'main.tf' }))).message).toBe(
      '"main.tf" is a file: "path" names a directory',
    );
    expect((await refusalOf(snapshot({ url: source.url, path: 'modul' }))).message).toMatch(/has no directory/);
  });

  it('keeps binary files byte by byte', async () => {
    const binary = repository();
    const bytes = Buffer.from([0, 1, 254, 255]);
    binary.commit({ 'a.bin': bytes, 'nul.txt': 'a\0b', 'empty.tf': '', 'bom.tf': '\ufeffx', 'crlf.tf': 'a\r\nb' });
    expect((await snapshot({ url: binary.url })).files).toEqual({
      'a.bin': { base64: bytes.toString('base64') },
      'nul.txt': { base64: Buffer.from('a\0b').toString('base64') },
      'empty.tf': '',
      'bom.tf': '\ufeffx',
      'crlf.tf': 'a\r\nb',
    });
  });

  it('runs no hook, filter or configuration of the repository', async () => {
    const tricky = repository();
    tricky.commit({
      '.gitattributes': '*.tf export-ignore filter=evil\n',
      'main.tf': '# $Id$\n',
      '.gitconfig': '[core]\n\thooksPath = hooks\n[filter "evil"]\n\tsmudge = touch /tmp/broken\n',
      'hooks/post-checkout': { script: '#!/bin/sh\ntouch /tmp/broken\n' },
      'hooks/post-index-change': { script: '#!/bin/sh\ntouch /tmp/broken\n' },
    });
    expect((await snapshot({ url: tricky.url })).files['main.tf']).toBe('# $Id$\n');
    expect(existsSync('/tmp/broken')).toBe(false);
  });

  it('has the same bytes, modes and links as a clone', async () => {
    const mixed = repository();
    mixed.commit({
      '.gitattributes':
        '*.txt text eol=crlf\n*.u16 text working-tree-encoding=UTF-16LE\n*.id ident\nkept export-ignore\n',
      'unix/.gitattributes': '*.txt eol=lf\n',
      'main.tf': main,
      'dos.txt': 'a\nb\n',
      'unix/x.txt': 'a\nb\n',
      'wide.u16': Buffer.from('a\nb\n', 'utf16le'),
      'a.id': '$Id$\n',
      kept: '',
      'with space ü.tf': '',
      'Case.tf': '# 1\n',
      'case.tf': '# 2\n',
      'prod.auto.tfvars': '',
      '.terraform.lock.hcl': '',
      '.hidden/x': '',
      '.terraform/modules/modules.json': '{}',
      'run.sh': { script: '#!/bin/sh\n' },
      tool: { script: '\x7fELF' },
      'library.sh': '#!/bin/sh\n',
      'bin.dat': Buffer.from([0, 255]),
      'modules/v2/main.tf': '# v2\n',
      'modules/current': { link: 'v2' },
      'modules/copy.tf': { link: 'current/main.tf' },
    });
    const { files } = await snapshot({ url: mixed.url });
    const clone = join(root.path, `clone-${made++}`);
    mixed.git('clone', '--quiet', mixed.path, clone);
    const listed = mixed
      .git('ls-files', '-z')
      .split('\0')
      .filter((path) => path !== '' && !path.startsWith('.terraform/'));
    expect(Object.keys(files).sort()).toEqual(listed.sort());
    for (const [path, content] of Object.entries(files)) {
      const [real, stats] = [join(clone, path), lstatSync(join(clone, path))];
      expect(isLink(content), path).toBe(stats.isSymbolicLink());
      if (isLink(content)) expect(content.link).toBe(readlinkSync(real));
      else {
        expect(bytesOf(content).equals(readFileSync(real)), path).toBe(true);
        expect(isExecutable(content), path).toBe((stats.mode & 0o100) !== 0);
      }
    }
    // A file that its content already makes executable is stored as its text alone, as in earlier releases.
    expect(files).toMatchObject({
      'run.sh': '#!/bin/sh\n',
      'library.sh': { text: '#!/bin/sh\n', executable: false },
      tool: { text: '\x7fELF', executable: true },
    });
  });

  it('keeps links inside the repository with what they lead to, and refuses all others', async () => {
    const linked = repository();
    linked.commit({
      'common/versions.tf': '# versions',
      'live/main.tf': main,
      'live/versions.tf': { link: '../common/versions.tf' },
      'live/again.tf': { link: 'versions.tf' },
      'live/current': { link: '../modules/current' },
      'modules/current': { link: 'v2' },
      'modules/v2/main.tf': '# v2',
      'modules/v1/main.tf': '# not used',
    });
    expect((await snapshot({ url: linked.url, path: 'live' })).files).toEqual({
      'common/versions.tf': '# versions',
      'live/main.tf': main,
      'live/versions.tf': { link: '../common/versions.tf' },
      'live/again.tf': { link: 'versions.tf' },
      'live/current': { link: '../modules/current' },
      'modules/current': { link: 'v2' },
      'modules/v2/main.tf': '# v2',
    });
    const badLinks = ['/etc/passwd', '../../../etc/passwd', 'missing', 'loop.tf', '../.git/config', 'up/../../x'];
    const bad = repository();
    const directories = badLinks.map((link, index) => ({
      [`live${index}/up`]: { link: '../common' },
      [`live${index}/loop.tf`]: { link },
    }));
    bad.commit(Object.assign({ x: '', 'common/versions.tf': '# versions' }, ...directories));
    for (const [index, link] of badLinks.entries()) {
      const { message } = await refusalOf(snapshot({ url: bad.url, path: `live${index}` }));
      expect(message, link).toBe(
        `the link "live${index}/loop.tf" must lead to a file or a directory in the repository`,
      );
    }
  });

  it('a snapshot of a path holds the files that its configuration reads outside of it, unless they exceed the limits', async () => {
    const mono = repository();
    mono.commit({
      'live/prod/main.tf': [
        'locals {',
        '  root = "${path.module}/../../config"',
        '  text = file("${path.module}/../one.txt")',
        '  other = templatefile("../two.tftpl", { a = "../x" })',
        '  by_name = file("${path.root}/../../names/${var.name}.json")',
        '  all = fileset("${path.module}/../../sets", "**")',
        '  large = file("${path.module}/../../large/${var.name}")',
        '  url = "https://example.com/../../secret"',
        '  out = file("../../../../../etc/passwd")',
        '}',
        'module "m" {\n  source = "../../modules/current/inner"\n}',
      ].join('\n'),
      'config/deep/a.yaml': 'a',
      'live/one.txt': '1',
      'live/two.tftpl': '2',
      'live/three.txt': 'not read',
      'names/a.json': '{}',
      'sets/deep/a': '',
      'large/x.bin': Buffer.alloc(200_000),
      secret: 'not read',
      'modules/current': { link: 'v2' },
      'modules/v2/inner/main.tf': 'locals { up = file("${path.module}/../up.txt") }',
      'modules/v2/up.txt': '',
    });
    const limits = { files: 100, bytes: 100_000 };
    const { files } = await snapshot({ url: mono.url, path: 'live/prod' }, { limits });
    expect(Object.keys(files).sort()).toEqual([
      'config/deep/a.yaml',
      'live/one.txt',
      'live/prod/main.tf',
      'live/two.tftpl',
      'modules/current',
      'modules/v2/inner/main.tf',
      'modules/v2/up.txt',
      'names/a.json',
      'sets/deep/a',
    ]);
  });

  it('leaves out unusable files that only a string of the configuration names', async () => {
    const inner = repository();
    const commit = inner.commit({ 'main.tf': main });
    const mono = repository();
    mono.commit({
      'live/main.tf': 'locals { app = "${path.root}/../app/" }\nmodule "m" {\n  source = "../modules/m"\n}',
      'app/run.py': '',
      'app/.flake8': { link: '../missing' },
      'app/outside': { link: '../../../etc/passwd' },
      'app/shared': { link: '../shared' },
      'app/large': { link: '../large' },
      'app/model.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n',
      'app/terraform.tfstate': '{}',
      'app/infra/main.tf': 'module "x" {\n  source = "../../large"\n}',
      'shared/a.py': '',
      'large/x.bin': Buffer.alloc(90_000),
      'modules/m/main.tf': `# ${'x'.repeat(50_000)}\n${main}`,
    });
    mono.git('update-index', '--add', '--cacheinfo', `160000,${commit},app/sub`);
    mono.git('commit', '--quiet', '--message', 'a submodule');
    const limits = { files: 100, bytes: 100_000 };
    const { files } = await snapshot({ url: mono.url, path: 'live' }, { limits });
    expect(Object.keys(files).sort()).toEqual([
      'app/infra/main.tf',
      'app/run.py',
      'app/shared',
      'live/main.tf',
      'modules/m/main.tf',
      'shared/a.py',
    ]);
  });

  it('refuses submodules, LFS pointers, reserved names and names with control characters', async () => {
    const inner = repository();
    const commit = inner.commit({ 'main.tf': main });
    const outer = repository();
    outer.git('update-index', '--add', '--cacheinfo', `160000,${commit},modules/inner`);
    outer.git('commit', '--quiet', '--message', 'a submodule');
    expect((await refusalOf(snapshot({ url: outer.url }))).message).toMatch(/"modules\/inner" is a submodule/);

    const lfs = repository();
    lfs.commit({ 'big.tf': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' });
    expect((await refusalOf(snapshot({ url: lfs.url }))).message).toMatch(/"big\.tf" is kept in Git LFS/);

    const state = repository();
    state.commit({ 'main.tf': main, 'terraform.tfstate': '{}' });
    expect((await refusalOf(snapshot({ url: state.url }))).message).toMatch(
      /"terraform\.tfstate", which is reserved: import a state/,
    );

    const named = repository();
    const blob = named.git('hash-object', '-w', '--stdin');
    for (const name of ['a\nb.tf', 'a\\b.tf']) {
      named.git('update-index', '--add', '--cacheinfo', `100644,${blob},${name}`);
      named.git('commit', '--quiet', '--message', 'a name');
      expect((await refusalOf(snapshot({ url: named.url }))).kind).toBe('unprocessable');
    }
  });

  it('refuses a tree with an entry named ".."', async () => {
    const evil = repository();
    const blob = evil.git('hash-object', '-w', '--stdin');
    const raw = Buffer.concat([Buffer.from('100644 ..\0'), Buffer.from(blob, 'hex')]);
    evil.commit({ 'tree.bin': raw });
    const tree = evil.git('hash-object', '-w', '--literally', '-t', 'tree', 'tree.bin');
    const commit = evil.git('commit-tree', tree, '-m', 'evil');
    evil.git('update-ref', 'refs/heads/evil', commit);
    expect((await refusalOf(snapshot({ url: evil.url, ref: 'evil' }))).message).toMatch(
      /must not contain "\." or "\.\."/,
    );
  });

  it('is limited in files, bytes, the size of the pack and time', async () => {
    const large = repository();
    const noise = randomBytes(200_000);
    large.commit({ 'a.tf': main, 'b.tf': main, 'c/noise.bin': noise, 'd/zeros.bin': Buffer.alloc(5_000_000) });
    const limited = (files: number, bytes: number) => snapshot({ url: large.url }, { limits: { files, bytes } });
    expect((await refusalOf(limited(3, 10_000_000))).message).toBe(
      'the template has more than 3 files: it has 4, most of them in "." (2), "c" (1), "d" (1): name its own directory as "path", or move files out',
    );
    expect((await refusalOf(limited(10, 1024 * 1024))).message).toMatch(
      /more than 1 MiB in its files: it has 4\.96 MiB, and the largest are "d\/zeros\.bin" with 4\.77 MiB, "c\/noise\.bin"/,
    );
    expect(Object.keys((await limited(4, 10_000_000)).files)).toHaveLength(4);
    const packed = await refusalOf(snapshot({ url: large.url }, { maxPackBytes: 100_000 }));
    expect(packed.message).toBe('the repository is too large');
    const slow = await refusalOf(snapshot({ url: large.url }, { timeoutMs: 1 }));
    expect(slow).toMatchObject({ kind: 'unavailable', message: 'the repository could not be read in time' });
  });

  it('is refused for URLs that the policy does not allow', async () => {
    for (const url of [source.url, 'http://127.0.0.1:1/x', 'https://127.0.0.1/x', 'https://localhost/x']) {
      expect((await refusalOf(snapshot({ url }, { policy: parseOutboundPolicy([]) }))).kind).toBe('unprocessable');
    }
    for (const url of [
      'ext::sh -c touch% /tmp/broken',
      '--upload-pack=touch /tmp/broken',
      'git://127.0.0.1/x',
      '/etc',
    ]) {
      expect((await refusalOf(snapshot({ url }))).message).toMatch(/expected a URL/);
    }
    expect(existsSync('/tmp/broken')).toBe(false);
  });

  it('a snapshot waits for its turn while as many repositories are read as there are places for', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => snapshot({ url: source.url })));
    expect(all.map(({ commit }) => commit)).toEqual(all.map(() => second));
  });
});

describe('a snapshot over HTTP', () => {
  const password = 'p@ss:w/rd %41"\'\\$(x) `é';
  const credential: GitCredential = { kind: 'password', username: 'bot@acme', password };
  const expected = `Basic ${Buffer.from(`bot@acme:${password}`).toString('base64')}`;
  let source: Repository;
  let server: GitServer;
  let commit: string;

  beforeAll(async () => {
    source = repository();
    commit = source.commit({ 'main.tf': main });
    server = await serveGit(root.path, (request, response) => {
      const path = request.url ?? '';
      if (path.startsWith('/elsewhere')) {
        response.writeHead(302, { Location: `http://127.0.0.1:${server.port}/r0/.git${path.slice(10)}` }).end();
        return true;
      }
      if (path.startsWith('/slow')) return true;
      if (path.startsWith('/broken')) {
        response.writeHead(500).end('internal');
        return true;
      }
      if (path.startsWith('/private') && request.headers.authorization !== expected) {
        response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
        return true;
      }
      request.url = path.replace('/private', '');
      return false;
    });
  });

  afterAll(() => server.close());
  afterEach(() => {
    server.requests.length = 0;
    expect(leftovers()).toEqual([]);
  });

  const name = () => source.path.slice(root.path.length);
  const at = (prefix = '', host = '127.0.0.1') => `http://${host}:${server.port}${prefix}${name()}/.git`;

  it('is the same as one from a directory', async () => {
    expect(await snapshot({ url: at() })).toEqual({ commit, files: { 'main.tf': main }, leftOut: [] });
    expect((await snapshot({ url: at(), ref: commit })).commit).toBe(commit);
  });

  it('connects to the address that was checked and never resolves the name again', async () => {
    const resolve = async () => ['127.0.0.1'];
    const taken = await snapshot({ url: at('', 'git.test') }, { resolve });
    expect(taken.commit).toBe(commit);
    expect(server.requests.map(({ headers }) => headers.host)).toContain(`git.test:${server.port}`);
  });

  it('is refused when any address of its name is private, and so is the listing of its refs', async () => {
    for (const addresses of [
      ['1.1.1.1', '10.0.0.1'],
      ['10.0.0.1', '1.1.1.1'],
      ['2606:4700:4700::1111', '::ffff:169.254.169.254'],
    ]) {
      const resolve = async () => addresses;
      const url = `https://mixed.test:${server.port}/r.git`;
      for (const read of [() => snapshot({ url }, { resolve }), () => countRefs(url, { policy, resolve })])
        expect((await refusalOf(read())).message).toContain('is not on the public network');
    }
    expect(server.requests).toEqual([]);
  });

  it('is refused when its name resolves to another address at the next fetch', async () => {
    let addresses = ['127.0.0.1'];
    const resolve = async () => addresses;
    const url = at('', 'git.rebound');
    const allowing = parseOutboundPolicy(['127.0.0.1']);
    expect((await snapshot({ url }, { policy: allowing, resolve })).commit).toBe(commit);
    addresses = ['127.0.0.2'];
    const { message } = await refusalOf(snapshot({ url }, { policy: allowing, resolve }));
    expect(message).toContain('is not on the public network');
  });

  it('opens a private repository with credentials that contain special characters', async () => {
    expect((await snapshot({ url: at('/private') }, { credential })).commit).toBe(commit);
  });

  it('a snapshot over HTTP without or with wrong credentials says so and shows none of them', async () => {
    const missing = await refusalOf(snapshot({ url: at('/private') }));
    expect(missing.message).toMatch(/needs credentials: name a connection/);
    const wrong = { ...credential, password: 'hunter2/ü' };
    const refused = await refusalOf(snapshot({ url: at('/private') }, { credential: wrong }));
    expect(refused.message).toBe('the server refused the credentials');
    expect(refused.everything).not.toContain('hunter2');
  });

  it('sends credentials only to a server that asks for them', async () => {
    await snapshot({ url: at() }, { credential });
    expect(server.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
  });

  it('does not follow a redirect', async () => {
    const { message } = await refusalOf(snapshot({ url: at('/elsewhere') }));
    expect(message).toMatch(/redirects elsewhere/);
    expect(server.requests.every(({ url }) => url?.startsWith('/elsewhere'))).toBe(true);
  });

  it('distinguishes a missing repository from a failing server', async () => {
    const missing = await refusalOf(snapshot({ url: `http://127.0.0.1:${server.port}/nowhere.git` }));
    expect(missing).toMatchObject({ kind: 'unprocessable', message: expect.stringMatching(/no such repository/) });
    const broken = await refusalOf(snapshot({ url: at('/broken') }));
    expect(broken).toMatchObject({ kind: 'unavailable', message: 'the server cannot be reached now' });
    const closed = await refusalOf(snapshot({ url: 'http://127.0.0.1:1/x.git' }));
    expect(closed).toMatchObject({ kind: 'unavailable', message: 'the server cannot be reached now' });
  });

  it('gives up on a silent server after its time limit', async () => {
    const start = Date.now();
    const slow = await refusalOf(snapshot({ url: at('/slow') }, { timeoutMs: 700 }));
    expect(slow.message).toBe('the repository could not be read in time');
    expect(Date.now() - start).toBeLessThan(5_000);
  });

  it('refuses an SSH key over HTTP, and a password over SSH', async () => {
    const key: GitCredential = { kind: 'ssh_key', privateKey: 'k', knownHosts: 'h' };
    expect((await refusalOf(snapshot({ url: at() }, { credential: key }))).message).toMatch(/SSH key opens ssh/);
    const url = 'ssh://git@127.0.0.1:1/x.git';
    expect((await refusalOf(snapshot({ url }, { credential }))).message).toMatch(
      /needs a connection with a private key/,
    );
    expect((await refusalOf(snapshot({ url }))).message).toMatch(/needs a connection with a private key/);
  });

  it('never runs git as root', async () => {
    const directory = mkdtempSync(join(ownTemporary, 'place-'));
    await giveToGit(directory);
    const place = { directory, environment: {}, largestFile: 1024, deadline: Date.now() + 10_000 };
    const { stdout } = await runGit(['-c', 'alias.who=!id -u; id -G', 'who'], place);
    rmSync(directory, { recursive: true });
    const [uid = '0', groups = '0'] = stdout.toString().trim().split('\n');
    expect([uid, ...groups.split(' ')]).not.toContain('0');
  });

  it('runs ssh without the configuration of the machine, and says that the server cannot be reached', async () => {
    const key: GitCredential = { kind: 'ssh_key', privateKey: 'SECRET-KEY', knownHosts: '127.0.0.1 ssh-ed25519 AAAA' };
    const refused = await refusalOf(snapshot({ url: 'ssh://git@127.0.0.1:1/x.git' }, { credential: key }));
    expect(refused.message).toBe('the server cannot be reached now');
    expect(refused.everything).not.toContain('SECRET-KEY');
  });
});
