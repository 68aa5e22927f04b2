import { crc32, deflateRawSync } from 'node:zlib';
import { readZipEntries, readZipEntry } from '#executors/shared/zip.ts';

/** An entry of an archive to write. */
export interface WrittenEntry {
  readonly name: string;
  readonly content: Buffer;
  /** What the archive says instead of the truth. */
  readonly size?: number;
  readonly comment?: Buffer;
  readonly extra?: Buffer;
  /** The permissions of the file, as Unix writes them. */
  readonly mode?: number;
}

/** Unpacks a plan file. */
export async function unpackPlan(plan: Buffer): Promise<WrittenEntry[]> {
  const entries = [...readZipEntries(plan).values()];
  return Promise.all(
    entries.map(async (entry) => ({ name: entry.name, content: await readZipEntry(plan, entry, 1e8) })),
  );
}

const none = Buffer.alloc(0);

/** Writes an archive, as one that attacks a reader would be too. */
export function writeZip(entries: readonly WrittenEntry[]): Buffer {
  const body: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, size = content.length, comment = none, extra = none, mode } of entries) {
    const stored = deflateRawSync(content);
    const label = Buffer.from(name);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(stored.length, 14);
    facts.writeUInt32LE(size, 18);
    facts.writeUInt16LE(label.length, 22);
    const listedFacts = Buffer.from(facts);
    listedFacts.writeUInt16LE(extra.length, 24);
    const place = Buffer.alloc(14);
    place.writeUInt16LE(comment.length, 0);
    if (mode !== undefined) place.writeUInt32LE(((0o100000 | mode) << 16) >>> 0, 6);
    place.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.from(`PK\x01\x02\x14${mode === undefined ? '\x00' : '\x03'}`, 'latin1'),
      listedFacts,
      place,
      label,
      extra,
      comment,
    );
    const local = [Buffer.from('PK\x03\x04'), facts, label, stored];
    body.push(...local);
    offset += local.reduce((sum, { length }) => sum + length, 0);
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...body, listed, end]);
}

/** Gives the directory of an archive exactly as many bytes as make Go look for a 64-bit one, with the place of that one at its end. */
export function writeZipWithLocator(entries: readonly WrittenEntry[], field: 'comment' | 'extra'): Buffer {
  const listedBytes = entries.reduce((sum, { name }) => sum + 46 + Buffer.byteLength(name), 0);
  const padding = Buffer.alloc(0xffff - listedBytes);
  if (field === 'extra') padding.writeUInt16LE(padding.length - 4, 2);
  padding.write('PK\x06\x07', padding.length - 20, 'latin1');
  return writeZip(
    entries.map((entry, index) => (index === entries.length - 1 ? { ...entry, [field]: padding } : entry)),
  );
}
