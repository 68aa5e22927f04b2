import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';

const inflate = promisify(inflateRaw);

/**
 * Reads ZIP archives that an attacker may have written. It accepts only archives with a single meaning, which Go's reader (that of the
 * tools) sees too: one directory directly before the end, no comments, no parts of the 64-bit form, and no duplicate names.
 */

const endSignature = 0x06054b50;
const endBytes = 22;
const directorySignature = 0x02014b50;
const directoryBytes = 46;
const localSignature = 0x04034b50;
const localBytes = 30;
const maxEntries = 20_000;
/** Size fields with this value say that the size is elsewhere. */
const isElsewhere = 0xffffffff;
/** Go looks for a 64-bit directory at each of these values, even if such a value is a real size. */
const isElsewhereShort = 0xffff;
const locatorSignature = 0x07064b50;
const locatorBytes = 20;
const extra64 = 1;

export interface ZipEntry {
  readonly name: string;
  /** The size that the archive declares. */
  readonly size: number;
  readonly compressedSize: number;
  readonly method: number;
  readonly offset: number;
}

/** @throws Error that says why the archive is not read */
export function readZipEntries(archive: Buffer): Map<string, ZipEntry> {
  const end = archive.length - endBytes;
  if (end < 0 || archive.readUInt32LE(end) !== endSignature || archive.readUInt16LE(end + 20) !== 0) {
    throw new Error('it is not an archive, or has something after its end');
  }
  const count = archive.readUInt16LE(end + 10);
  const size = archive.readUInt32LE(end + 12);
  const start = archive.readUInt32LE(end + 16);
  const has64 = end >= locatorBytes && archive.readUInt32LE(end - locatorBytes) === locatorSignature;
  if (has64 || [count, size].includes(isElsewhereShort) || [size, start].includes(isElsewhere)) {
    throw new Error('it has a 64-bit directory');
  }
  if (start + size !== end) throw new Error('its directory is not before its end');
  if (count > maxEntries) throw new Error(`it has more than ${maxEntries} entries`);
  const entries = new Map<string, ZipEntry>();
  let at = start;
  for (let index = 0; index < count; index++) {
    const { entry, next } = readEntry(archive, at, end);
    if (entries.has(entry.name)) throw new Error(`it has the entry "${entry.name}" twice`);
    entries.set(entry.name, entry);
    at = next;
  }
  if (at !== end) throw new Error('its directory has another size than it says');
  return entries;
}

function readEntry(archive: Buffer, at: number, end: number): { entry: ZipEntry; next: number } {
  if (at + directoryBytes > end || archive.readUInt32LE(at) !== directorySignature) {
    throw new Error('its directory is damaged');
  }
  const nameEnd = at + directoryBytes + archive.readUInt16LE(at + 28);
  const next = nameEnd + archive.readUInt16LE(at + 30);
  if (next > end) throw new Error('its directory is damaged');
  if (archive.readUInt16LE(at + 32) !== 0) throw new Error('an entry has a comment');
  refuseExtra64(archive.subarray(nameEnd, next));
  const entry = {
    name: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      archive.subarray(at + directoryBytes, nameEnd),
    ),
    method: archive.readUInt16LE(at + 10),
    compressedSize: archive.readUInt32LE(at + 20),
    size: archive.readUInt32LE(at + 24),
    offset: archive.readUInt32LE(at + 42),
  };
  if ([entry.size, entry.compressedSize, entry.offset].includes(isElsewhere)) throw new Error('it has 64-bit sizes');
  return { entry, next };
}

function refuseExtra64(extra: Buffer): void {
  for (let at = 0; at < extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (at + 4 > extra.length) throw new Error('its directory is damaged');
    if (extra.readUInt16LE(at) === extra64) throw new Error('it has 64-bit sizes');
  }
}

/** Reads an entry of at most `maximumBytes`, and never uses more memory than that. @throws Error */
export async function readZipEntry(archive: Buffer, entry: ZipEntry, maximumBytes: number): Promise<Buffer> {
  const { name, size, compressedSize, method, offset } = entry;
  if (size > maximumBytes) throw new Error(`its entry "${name}" has more than ${maximumBytes} bytes`);
  if (offset + localBytes > archive.length || archive.readUInt32LE(offset) !== localSignature) {
    throw new Error(`its entry "${name}" is damaged`);
  }
  const start = offset + localBytes + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  const stored = archive.subarray(start, start + compressedSize);
  if (stored.length !== compressedSize) throw new Error(`its entry "${name}" is damaged`);
  const content = await decode(stored, method, size);
  if (content?.length !== size) throw new Error(`its entry "${name}" is damaged`);
  return content;
}

async function decode(stored: Buffer, method: number, size: number): Promise<Buffer | null> {
  if (method === 0) return stored;
  if (method !== 8) return null;
  // One more byte is allowed, for an empty entry, and to detect an entry that is longer than declared.
  return inflate(stored, { maxOutputLength: size + 1 }).catch(() => null);
}
