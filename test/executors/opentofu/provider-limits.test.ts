import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InitCache } from '#executors/opentofu/initialization/init-cache.ts';
import { lockForOtherPlatform, readLockFile, writeLockFile } from '#executors/opentofu/providers/lock-file.ts';
import { ProviderStore, type StoredProvider } from '#executors/opentofu/providers/provider-store.ts';

let directory: string;
let drafts: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coordinator-test-limits-'));
  drafts = join(directory, 'host');
  mkdirSync(drafts);
});
afterEach(() => rmSync(directory, { recursive: true }));

const kibibyte = 1024;
const wanted = (name: string) => ({ address: `mirror.test/acme/${name}`, version: '1.0.0', hashes: [] });

function openStore(): ProviderStore {
  return new ProviderStore(join(directory, 'providers'), drafts);
}

function unpack(name: string, content: string | Buffer = Buffer.alloc(kibibyte, name)): string {
  const place = join(directory, `unpacked-${name}`);
  mkdirSync(place);
  writeFileSync(join(place, `terraform-provider-${name}`), content, { mode: 0o755 });
  return place;
}

const add = (store: ProviderStore, name: string) => store.add(unpack(name), wanted(name), 'all', () => true);

describe('the limit of the store of providers', () => {
  const long = new Date(Date.now() - 3600_000);

  /** Makes an initialization with links to providers, and returns its key and its directory. */
  async function initialize(cache: InitCache, name: string, providers: readonly StoredProvider[]) {
    const key = cache.keyOf({ name }, {});
    const { data } = await cache.obtain(key, async (place) => {
      for (const { key: stored, directory: files } of providers)
        for (const file of readdirSync(files))
          linkSync(join(files, file), join(place, `${stored.slice(0, 8)}-${file}`));
      return { lock: null, modules: '', providers: providers.map((each) => each.key) };
    });
    return { key, data, entry: join(data, '..') };
  }

  it('removes the least recently used, with the initializations that use it, and none that a run uses', async () => {
    const store = openStore();
    const cache = new InitCache(join(directory, 'cache'), drafts, store, 2 * kibibyte);
    const [a, b, c, d] = [await add(store, 'a'), await add(store, 'b'), await add(store, 'c'), await add(store, 'd')];
    const running = await initialize(cache, 'running', [a]);
    const old = await initialize(cache, 'old', [b, d]);
    const young = await initialize(cache, 'young', [d]);
    cache.release(old.key);
    cache.release(young.key);
    for (const [index, each] of [a, b, c, d].entries())
      utimesSync(join(each.directory, '..'), new Date(long.getTime() + index), new Date(long.getTime() + index));
    for (const { entry } of [running, old]) utimesSync(entry, long, long);
    await cache.evict();
    expect((await store.list()).map(({ key }) => key).sort()).toEqual([a.key, d.key].sort());
    expect([existsSync(running.data), existsSync(old.data), existsSync(young.data)]).toEqual([true, false, true]);
    expect(store.counts).toMatchObject({ fetches: 4, evictions: 2 });
    cache.release(running.key);
    for (const entry of [young.entry, join(d.directory, '..')]) utimesSync(entry, long, long);
    await new InitCache(join(directory, 'cache'), drafts, store, 0).evict();
    expect(await store.list()).toEqual([]);
    expect(existsSync(running.data)).toBe(false);
  });

  it('keeps what another host of the machine reported as used in the last minutes', async () => {
    const [store, others] = [openStore(), openStore()];
    const other = new InitCache(join(directory, 'cache'), drafts, others, 0);
    const cache = new InitCache(join(directory, 'cache'), drafts, store, 0);
    const a = await add(others, 'a');
    const { entry } = await initialize(other, 'long', [a]);
    for (const path of [entry, join(a.directory, '..')]) utimesSync(path, long, long);
    await other.maintain();
    await cache.evict();
    expect((await store.list()).map(({ key }) => key)).toEqual([a.key]);
    utimesSync(entry, long, long);
    await cache.evict();
    expect(await store.list()).toEqual([]);
    expect(existsSync(entry)).toBe(false);
  });
});

describe('the initializations of an earlier release', () => {
  it('are removed once they are unused for an hour, because their providers count towards no limit', async () => {
    const cache = new InitCache(join(directory, 'cache'), drafts, openStore(), 0);
    const entries = [1, 2].map((each) => join(directory, 'cache', cache.keyOf({ each }, {})));
    for (const [index, entry] of entries.entries()) {
      mkdirSync(join(entry, 'data'), { recursive: true });
      writeFileSync(join(entry, 'facts.json'), JSON.stringify({ modules: '' }));
      const usedAt = new Date(Date.now() - (index + 1) * 2000_000);
      utimesSync(entry, usedAt, usedAt);
    }
    await cache.evict();
    expect(entries.map((entry) => existsSync(entry))).toEqual([true, false]);
  });
});

describe('the store of providers', () => {
  it('takes no package with another checksum than its lock file has, and none with links', async () => {
    const store = openStore();
    await expect(store.add(unpack('a'), wanted('a'), 'all', () => false)).rejects.toThrow(
      /has the checksum h1:[\w+/]+=, which the lock file does not list/,
    );
    const linked = unpack('b');
    symlinkSync('/etc/passwd', join(linked, 'passwd'));
    await expect(store.add(linked, wanted('b'), 'all', () => true)).rejects.toThrow('"passwd" is not a regular file');
    expect(await store.list()).toEqual([]);
    expect(readdirSync(drafts)).toEqual([]);
  });

  it('fetches a provider once for all that want it at the same time, and again for those that wait if that failed', async () => {
    const store = openStore();
    let fetches = 0;
    const fetch = async () => {
      fetches++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (fetches === 1) throw new Error('the mirror is down');
      return add(store, 'a');
    };
    const all = await Promise.allSettled([1, 2, 3].map(() => store.obtain(wanted('a'), 'all', fetch)));
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(fetches).toBe(2);
  });
});

describe('a lock file', () => {
  const provider = {
    address: 'registry.example/acme/net',
    version: '1.2.3-beta1',
    constraints: '~> 1.2, != 1.2.1',
    hashes: ['h1:AAAA=', 'zh:ab12'],
  };

  it('is read as it is written', () => {
    const more = { ...provider, address: 'mirror.example:8443/acme/net_2', constraints: null, hashes: [] };
    expect(readLockFile(writeLockFile([provider, more]))).toEqual([provider, more]);
    const byHand = '# x\nprovider "a.example/b/c" { version = "1.0.0"\n hashes = ["h1:x="] }\n// y\n';
    expect(readLockFile(Buffer.from(byHand))).toMatchObject([{ address: 'a.example/b/c', hashes: ['h1:x='] }]);
  });

  it.each([
    ['another block', 'terraform {}\n'],
    ['no version', 'provider "a.example/b/c" {\n}\n'],
    ['a version that is a path', 'provider "a.example/b/c" {\n  version = "../../x"\n}\n'],
    ['an address that is a path', 'provider "a.example/../c" {\n  version = "1.0.0"\n}\n'],
    ['an address without a host', 'provider "b/c" {\n  version = "1.0.0"\n}\n'],
  ])('is left to the tool if it has %s', (_, text) => {
    expect(readLockFile(Buffer.from(text))).toBeNull();
  });

  it('keeps versions and the checksums of archives for another platform', () => {
    const other = lockForOtherPlatform(writeLockFile([provider]));
    expect(other && readLockFile(other)).toEqual([{ ...provider, hashes: ['zh:ab12'] }]);
  });
});
