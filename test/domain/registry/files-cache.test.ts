import { describe, expect, it } from 'vitest';
import { FilesCache } from '#domain/registry/publication/files-cache.ts';

const files = (bytes: number) => ({ 'main.tf': 'x'.repeat(bytes) });

describe('the cache of files of versions', () => {
  it('keeps the versions that were used last, up to its number of bytes', () => {
    const cache = new FilesCache(100);
    for (const id of ['one', 'two']) cache.set(id, files(40));
    expect(cache.get('one')).toEqual(files(40));
    cache.set('three', files(40));
    expect(cache.get('two')).toBeUndefined();
    expect(cache.get('one')).toEqual(files(40));
    expect(cache.get('three')).toEqual(files(40));
  });

  it('keeps nothing that is larger than the cache, and what it kept before counts once', () => {
    const cache = new FilesCache(100);
    cache.set('one', files(60));
    cache.set('one', files(60));
    cache.set('two', files(40));
    expect(cache.get('one')).toEqual(files(60));
    cache.set('large', files(101));
    expect(cache.get('large')).toBeUndefined();
    cache.set('three', files(100));
    expect(cache.get('three')).toEqual(files(100));
  });
});
