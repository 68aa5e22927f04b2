import { describe, expect, it } from 'vitest';
import { readZipEntries, readZipEntry } from '#executors/shared/zip.ts';
import { writeZip, writeZipWithLocator } from './opentofu/plan-file/zip-writer.ts';

const two = [
  { name: 'a', content: Buffer.from('one') },
  { name: 'b/ü', content: Buffer.alloc(0) },
];
const honest = () => writeZip(two);
const changed = (at: number, bytes: number[]) => {
  const archive = honest();
  Buffer.from(bytes).copy(archive, at < 0 ? archive.length + at : at);
  return archive;
};

describe('reading an archive', () => {
  it('finds its entries', async () => {
    const entries = readZipEntries(honest());
    expect([...entries.keys()]).toEqual(['a', 'b/ü']);
    for (const [name, content] of [
      ['a', 'one'],
      ['b/ü', ''],
    ] as const) {
      const entry = entries.get(name);
      expect(entry && (await readZipEntry(honest(), entry, 100)).toString()).toBe(content);
    }
  });

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('x'.repeat(1000))],
    ['bytes after its end', Buffer.concat([honest(), Buffer.from('x')])],
    ['bytes before its begin', Buffer.concat([Buffer.from('x'), honest()])],
    ['a comment', changed(-2, [1, 0])],
    ['more entries than it says', changed(-12, [1, 0])],
    ['fewer entries than it says', changed(-12, [3, 0])],
    ['a directory that begins elsewhere', changed(-6, [0, 0, 0, 0])],
    ['64-bit sizes', changed(-6, [0xff, 0xff, 0xff, 0xff])],
    [
      'a name twice',
      writeZip([
        { name: 'a', content: Buffer.from('1') },
        { name: 'a', content: Buffer.from('2') },
      ]),
    ],
    [
      'a name that is no text',
      Buffer.from(honest().toString('latin1').replaceAll('b/\xc3\xbc', 'b/\xff\xff'), 'latin1'),
    ],
    ['the size of a 64-bit directory', changed(-10, [0xff, 0xff, 0xff, 0xff])],
    ['the number of entries of a 64-bit directory', changed(-12, [0xff, 0xff])],
    ['the place of a second directory in a comment', writeZipWithLocator(two, 'comment')],
    ['the place of a second directory in an extra field', writeZipWithLocator(two, 'extra')],
    ['a comment of an entry', writeZip([{ name: 'a', content: Buffer.from('1'), comment: Buffer.from('x') }])],
    ['a 64-bit extra field', writeZip([{ name: 'a', content: Buffer.from('1'), extra: Buffer.from([1, 0, 0, 0]) }])],
    ['a damaged extra field', writeZip([{ name: 'a', content: Buffer.from('1'), extra: Buffer.from([9, 0]) }])],
    [
      'another archive in its end',
      Buffer.concat([honest().subarray(0, -2), Buffer.from([22, 0]), honest().subarray(-22)]),
    ],
  ])('refuses an archive that has %s', (_, archive) => expect(() => readZipEntries(archive)).toThrow());

  it('fails without much memory if an entry is larger than the limit or than the archive says', async () => {
    const bomb = Buffer.alloc(64 * 1024 * 1024);
    for (const [size, maximum] of [
      [bomb.length, 1000],
      [1000, 1000],
      [10, 1e9],
    ] as const) {
      const archive = writeZip([{ name: 'a', content: bomb, size }]);
      const entry = readZipEntries(archive).get('a');
      if (!entry) throw new Error('no entry');
      const before = process.memoryUsage().arrayBuffers;
      await expect(readZipEntry(archive, entry, maximum)).rejects.toThrow(/its entry "a"/);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
    }
  });

  it('refuses an entry with another size, another offset or an unknown method', async () => {
    const archive = honest();
    const entry = readZipEntries(archive).get('a');
    if (!entry) throw new Error('no entry');
    for (const wrong of [
      { size: 2 },
      { size: 4 },
      { offset: 5 },
      { offset: 1e6 },
      { method: 12 },
      { compressedSize: 1e6 },
    ]) {
      await expect(readZipEntry(archive, { ...entry, ...wrong }, 100)).rejects.toThrow('its entry "a" is damaged');
    }
  });
});
