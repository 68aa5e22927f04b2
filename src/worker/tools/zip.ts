import { inflateRawSync } from 'node:zlib';

const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;
const largestFile = 512 * 1024 * 1024;

/** One file of a ZIP archive; undefined if it is not there. @throws RangeError for an archive that is cut off or damaged */
export function readFromZip(archive: Buffer, wanted: string): Buffer | undefined {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(endOfDirectory);
  const end = archive.lastIndexOf(signature);
  if (end < 0) throw new RangeError('the archive has no directory');
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    if (archive.readUInt32LE(at) !== directoryEntry) throw new RangeError('the directory of the archive is damaged');
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    if (name === wanted) return readEntry(archive, at);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return undefined;
}

function readEntry(archive: Buffer, entry: number): Buffer {
  const method = archive.readUInt16LE(entry + 10);
  const size = archive.readUInt32LE(entry + 20);
  const local = archive.readUInt32LE(entry + 42);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const content = archive.subarray(start, start + size);
  if (method === 0) return content;
  if (method !== 8) throw new RangeError('the archive is compressed in an unknown way');
  return inflateRawSync(content, { maxOutputLength: largestFile });
}
