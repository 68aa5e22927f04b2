import { crc32, deflateRawSync } from 'node:zlib';
import { readZipEntries, readZipEntry } from '#executors/opentofu/plan-file/zip.ts';

/** An entry of an archive to write. */
export interface WrittenEntry {
  readonly name: string;
  readonly content: Buffer;
  /** What the archive says instead of the truth. */
  readonly size?: number;
}

/** Unpacks a plan file. */
export async function unpackPlan(plan: Buffer): Promise<WrittenEntry[]> {
  const entries = [...readZipEntries(plan).values()];
  return Promise.all(
    entries.map(async (entry) => ({ name: entry.name, content: await readZipEntry(plan, entry, 1e8) })),
  );
}

/** Writes an archive, as one that attacks a reader would be too. */
export function writeZip(entries: readonly WrittenEntry[]): Buffer {
  const body: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, size = content.length } of entries) {
    const stored = deflateRawSync(content);
    const label = Buffer.from(name);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(stored.length, 14);
    facts.writeUInt32LE(size, 18);
    facts.writeUInt16LE(label.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), facts, place, label);
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
