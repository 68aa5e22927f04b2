import { Decimal } from './values/decimal.ts';

/**
 * The maximum size of all rows of one page, roughly in bytes of their JSON. A page ends before the row that would exceed it, and has a
 * cursor to the next page as usual. A single row that is larger makes a page of its own.
 */
export const maxPageBytes = 1024 * 1024;

/** How many rows of these sizes, from the first one, are on one page. */
export function countFitting(sizes: Iterable<number>): number {
  let rows = 0;
  let bytes = 0;
  for (const size of sizes) {
    bytes += size;
    if (rows > 0 && bytes > maxPageBytes) break;
    rows += 1;
  }
  return rows;
}

const otherBytes = 8;
const separatorBytes = 4;

/** About how many bytes the JSON of a value has. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + separatorBytes;
  if (typeof value !== 'object' || value === null || value instanceof Date) return otherBytes;
  if (value instanceof Decimal) return value.writtenDigits;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = separatorBytes;
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item);
  else for (const [name, member] of Object.entries(value)) bytes += name.length + separatorBytes + sizeOf(member);
  return bytes;
}
