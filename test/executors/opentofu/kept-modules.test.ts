import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isKeepable, keptModulesLimits } from '#domain/registry/kept-modules/model.ts';
import { digestModules, digestModulesAsBefore } from '#executors/opentofu/initialization/configuration.ts';
import {
  areModulesOf,
  packModules,
  removeGitDirectories,
  restoreModules,
  verifyModules,
} from '#executors/opentofu/initialization/kept-modules.ts';

/** Modules of a version are packed and unpacked again. The worker that packed them is not trusted. */

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'kept-modules-'));
});
afterEach(() => rm(data, { recursive: true, force: true }));

const manifest = { Modules: [{ Key: 'net', Source: 'git::https://host/net', Dir: '.terraform/modules/net' }] };

async function writeModules(files: Record<string, string>): Promise<void> {
  const module = join(data, 'modules/net');
  await mkdir(module, { recursive: true });
  await writeFile(join(data, 'modules/modules.json'), JSON.stringify(manifest));
  for (const [name, text] of Object.entries(files)) await writeFile(join(module, name), text);
}

function packed(files: object[]): Buffer {
  return gzipSync(JSON.stringify({ files }));
}

describe('stored modules', () => {
  it('are unpacked as they were packed, with their links', async () => {
    await writeModules({ 'main.tf': 'locals {}' });
    await symlink('main.tf', join(data, 'modules/net/other.tf'));
    const kept = await packModules(data, 'sha256:0');
    await rm(join(data, 'modules'), { recursive: true });
    await restoreModules(data, kept?.content ?? Buffer.alloc(0));
    expect(await readFile(join(data, 'modules/net/main.tf'), 'utf8')).toBe('locals {}');
    expect(await readlink(join(data, 'modules/net/other.tf'))).toBe('main.tf');
  });

  it.each<[string, object[]]>([
    ['outside of their directory', [{ path: '../../x', kind: 'file', content: '' }]],
    [
      'behind a link',
      [
        { path: 'net/x', kind: 'file', content: '' },
        { path: 'net', kind: 'link', content: '..' },
      ],
    ],
  ])('are refused with a file %s', async (_, files) => {
    await expect(restoreModules(data, packed(files))).rejects.toThrow(/a kept module has a file/);
  });

  it('are refused if a link lies below a link, and write nothing outside of their directory', async () => {
    const elsewhere = join(data, 'elsewhere');
    await mkdir(elsewhere);
    const files = [
      { path: 'net', kind: 'link', content: elsewhere },
      { path: 'net/planted', kind: 'link', content: '/etc/passwd' },
    ];
    await expect(restoreModules(data, packed(files))).rejects.toThrow('behind a link');
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('are packed without deleting .git directories behind links', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'kept-modules-elsewhere-'));
    await mkdir(join(elsewhere, 'net/.git'), { recursive: true });
    await symlink(elsewhere, join(data, 'modules'));
    await removeGitDirectories(data);
    expect(await readdir(join(elsewhere, 'net'))).toEqual(['.git']);
    await rm(join(data, 'modules'));
    await mkdir(join(data, 'modules'));
    await symlink(join(elsewhere, 'net'), join(data, 'modules/net'));
    await removeGitDirectories(data);
    expect(await readdir(join(elsewhere, 'net'))).toEqual(['.git']);
    await rm(elsewhere, { recursive: true });
  });

  it('have another digest if a link changes, unless an earlier release stored them', async () => {
    const link = join(data, 'modules/net/chosen.tf');
    await writeModules({ 'main.tf': 'locals {}', 'other.tf': 'locals {}' });
    expect(await digestModulesAsBefore(data)).toBe(await digestModules(data));
    await symlink('main.tf', link);
    const [digest, before] = [await digestModules(data), await digestModulesAsBefore(data)];
    const kept = await packModules(data, before);
    if (kept === null) throw new Error('nothing was packed');
    expect([await areModulesOf(kept, before), await areModulesOf(kept, digest)]).toEqual([true, true]);
    await rm(link);
    await symlink('other.tf', link);
    expect(await digestModules(data)).not.toBe(digest);
    expect(await digestModulesAsBefore(data)).toBe(before);
    expect(await areModulesOf(kept, await digestModules(data))).toBe(false);
  });

  async function writePackages(count: number, path = ''): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `m${index}`);
    const modules = names.map((name) => ({
      Key: name,
      Source: `git::https://host/${name}${path}`,
      Dir: `.terraform/modules/${name}`,
    }));
    await mkdir(join(data, 'modules'));
    await writeFile(join(data, 'modules/modules.json'), JSON.stringify({ Modules: modules }));
  }

  it('are refused if a package has changed, even if 600 packages were too large for their files to be stored', async () => {
    const count = 600;
    await writePackages(count);
    for (let at = 0; at < count; at++) {
      await mkdir(join(data, `modules/m${at}`));
      await writeFile(join(data, `modules/m${at}/main.tf`), 'before');
    }
    for (const name of ['m0/a', 'm0/b'])
      await writeFile(join(data, 'modules', name), Buffer.alloc(keptModulesLimits.bytes / 2 + 1));
    const kept = await packModules(data, `sha256:${'0'.repeat(64)}`);
    if (kept === null) throw new Error('nothing was packed');
    expect([kept.content, kept.list.length, isKeepable({ ...kept, locks: {} })]).toEqual([null, count, true]);
    await verifyModules(data, kept);
    await writeFile(join(data, 'modules/m599/main.tf'), 'after');
    await expect(verifyModules(data, kept)).rejects.toThrow('the module "m599"');
  });

  it('are refused if the version uses more packages than the limit', async () => {
    await writePackages(keptModulesLimits.packages + 1);
    await expect(packModules(data, 'sha256:0')).rejects.toThrow(/10001 packages, and at most 10000/);
  });

  it('have a list that can be stored even if their manifest is almost at its limit', async () => {
    await writePackages(keptModulesLimits.packages, `/${'x'.repeat(325)}`);
    expect((await stat(join(data, 'modules/modules.json'))).size).toBeGreaterThan(4_000_000);
    const kept = await packModules(data, `sha256:${'0'.repeat(64)}`);
    expect(kept && isKeepable({ ...kept, locks: {} })).toBe(true);
  });

  it('are not accepted from a worker whose list is too large', () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const module = { key: 'k'.repeat(4_096), source: 's', version: null, digest };
    const listed = (length: number) => ({
      digest,
      content: null,
      list: Array.from({ length }, () => module),
      locks: {},
    });
    expect([isKeepable(listed(1_000)), isKeepable(listed(3_000))]).toEqual([true, false]);
  });

  it.each(['main.tf', '__proto__'])('have another digest if the file %s has changed', async (name) => {
    await writeModules({ [name]: 'before' });
    const digest = await digestModules(data);
    const kept = await packModules(data, digest);
    await writeModules({ [name]: 'after' });
    expect(await digestModules(data)).not.toBe(digest);
    await expect(verifyModules(data, { list: kept?.list ?? [] })).rejects.toThrow(/another one than before/);
  });
});
