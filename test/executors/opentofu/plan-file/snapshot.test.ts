import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSnapshot } from '#executors/opentofu/plan-file/snapshot.ts';

/** The modules that `init` fetched, with links as repositories have them. */
const root = mkdtempSync(join(tmpdir(), 'coordinator-test-snapshot-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const data = join(root, 'data');
const write = (path: string, text: string) => {
  mkdirSync(join(data, path, '..'), { recursive: true });
  writeFileSync(join(data, path), text);
};
const modules = [
  ['a', '.terraform/modules/a/sub'],
  ['b', '.terraform/modules/a/current'],
  ['c', '.terraform/modules/c'],
  ['d', '../m'],
].map(([Key, Dir]) => ({ Key, Source: `source-${Key}`, Version: Key === 'c' ? '1.2.3' : undefined, Dir }));
write('modules/modules.json', JSON.stringify({ Modules: modules }));
write('modules/a/shared.tf', 'shared');
write('modules/a/sub/main.tf', 'main');
write('modules/a/sub/main.tofu', 'tofu');
write('modules/a/sub/.hidden.tf', '');
write('modules/a/sub/x.tf/file', '');
write('modules/c/main.tf', 'c');
write('../outside.tf', 'outside');
symlinkSync('../shared.tf', join(data, 'modules/a/sub/shared.tf'));
symlinkSync('sub', join(data, 'modules/a/current'));
symlinkSync('../../../outside.tf', join(data, 'modules/c/outside.tf'));

const laidOut: Readonly<Record<string, string>> = { live: 'root', m: 'm', 'm/deep': 'deep' };
const filesIn = (directory: string) => new Map([['main.tf', Buffer.from(laidOut[directory] ?? 'another')]]);
const read = (tool: 'opentofu' | 'terraform') => readSnapshot({ tool, filesIn, directory: 'live', data });
const filesOf = async (tool: 'opentofu' | 'terraform', key: string) => {
  const { modules: found, filesOf: of } = await read(tool);
  const module = found.get(key);
  if (!module) throw new Error('no module');
  return Object.fromEntries([...(await of(module))].map(([name, content]) => [name, content.toString()]));
};

describe('the configuration that a plan must have', () => {
  it('has the modules that init has recorded, and the root', async () => {
    const { modules: found } = await read('terraform');
    expect([...found.keys()].sort()).toEqual(['', 'a', 'b', 'c', 'd']);
    expect(found.get('c')).toEqual({ source: 'source-c', version: '1.2.3', directory: '.terraform/modules/c' });
  });

  it('has the files that the tool reads, through links within what was fetched', async () => {
    expect(await filesOf('terraform', '')).toEqual({ 'main.tf': 'root' });
    expect(await filesOf('terraform', 'd')).toEqual({ 'main.tf': 'm' });
    for (const key of ['a', 'b']) {
      expect(await filesOf('terraform', key)).toEqual({ 'main.tf': 'main', 'shared.tf': 'shared' });
      expect(await filesOf('opentofu', key)).toEqual({ 'main.tofu': 'tofu', 'shared.tf': 'shared' });
    }
  });

  it('is refused if a link leads out of what was fetched', async () => {
    await expect(filesOf('terraform', 'c')).rejects.toThrow('leads out of its directory');
  });
});
