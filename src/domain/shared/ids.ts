import { stringify, v7 } from 'uuid';
import { z } from 'zod';

/** Random bytes for many ids. Asking the system for those of each id costs more than all else about it. */
const random = new Uint8Array(16 * 256);
let used = random.length;
/** The time and the number of the last id: ids of one millisecond are numbered, from a random number on. */
const last = { msecs: 0, seq: 0 };

/** The id of a new row: a UUIDv7, so that ids sort by creation and a page of a list needs no other column to order by. */
export function newId(): string {
  if (used === random.length) {
    crypto.getRandomValues(random);
    used = 0;
  }
  const bytes = random.subarray(used, used + 16);
  used += 16;
  const now = Date.now();
  if (now > last.msecs) {
    last.msecs = now;
    last.seq = new DataView(bytes.buffer, bytes.byteOffset + 6).getUint32(0) >>> 1;
  } else {
    last.seq += 1;
    if (last.seq > maxNumber) {
      last.msecs += 1;
      last.seq = 0;
    }
  }
  return v7({ random: bytes, ...last });
}

/** The largest number that fits into an id beside its time. */
const maxNumber = 0xffff_ffff;

/** The smallest id that `newId` could make at a time or later, for comparison with its ids. */
export function firstIdAt(time: Date): string {
  const digits = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

/** The first 16 bytes of a digest as a UUID of version 8, whose bits the application chooses. */
export function toId(digest: Buffer): string {
  const bytes = Buffer.from(digest.subarray(0, 16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return stringify(bytes);
}

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** No row has this id: lists that are read by id begin after it. */
export const zeroId = '00000000-0000-0000-0000-000000000000';
/** No row has this id: a range of ids without an end stops before it. */
export const maxId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Whether a text is a canonical (lowercase, hyphenated) UUID other than zero. */
export function isId(text: string): boolean {
  return canonical.test(text) && text !== zeroId;
}

/** The schema of an id in a request. */
export const Id = z
  .string()
  .refine(isId, { error: 'expected a lowercase UUID other than zero' })
  .meta({ format: 'uuid', example: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11' });
