import { Decimal } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

/**
 * Reads a value that the tools wrote as MessagePack. A value whose type is not fixed is written as a pair of its type and itself, and the
 * type is left out here. Only the whole value can be such a pair, because its type fixes the types of all its parts. Numbers that do not
 * fit into another form are written as strings.
 * @throws Error if the bytes are not a value, or contain more than one
 */
export function readMessagePack(bytes: Buffer): JsonValue {
  const reader = new Reader(bytes);
  const value = reader.read(0);
  if (!reader.isAtEnd || Buffer.isBuffer(value)) throw new Error('there is something after a value');
  return value;
}

const maxDepth = 500;

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Only types are written as bytes. They are returned as a buffer. */
  read(depth: number): JsonValue | Buffer {
    if (depth > maxDepth) throw new Error('a value is nested too deep');
    const kind = this.#take(1).readUInt8();
    if (kind < 0x80) return kind;
    if (kind < 0x90) return this.#map(kind & 0x0f, depth);
    if (kind < 0xa0) return this.#list(kind & 0x0f, depth);
    if (kind < 0xc0) return this.#text(kind & 0x1f);
    if (kind >= 0xe0) return kind - 0x100;
    return this.#longer(kind, depth);
  }

  #longer(kind: number, depth: number): JsonValue | Buffer {
    if (kind === 0xc0) return null;
    if (kind === 0xc2 || kind === 0xc3) return kind === 0xc3;
    if (kind >= 0xc4 && kind <= 0xc6) return this.#take(this.#length(kind - 0xc4));
    if (kind === 0xca) return this.#take(4).readFloatBE();
    if (kind === 0xcb) return this.#take(8).readDoubleBE();
    if (kind >= 0xcc && kind <= 0xce) return this.#length(kind - 0xcc);
    if (kind >= 0xd0 && kind <= 0xd2) return this.#take(2 ** (kind - 0xd0)).readIntBE(0, 2 ** (kind - 0xd0));
    if (kind === 0xcf) return Decimal.read(String(this.#take(8).readBigUInt64BE()));
    if (kind === 0xd3) return Decimal.read(String(this.#take(8).readBigInt64BE()));
    if (kind >= 0xd9 && kind <= 0xdb) return this.#text(this.#length(kind - 0xd9));
    if (kind === 0xdc || kind === 0xdd) return this.#list(this.#length(kind - 0xdb), depth);
    if (kind === 0xde || kind === 0xdf) return this.#map(this.#length(kind - 0xdd), depth);
    // Unknown values, and refinements of them.
    throw new Error('a value is not known');
  }

  /** A length of 1, 2 or 4 bytes: `power` 0, 1 or 2. */
  #length(power: number): number {
    return this.#take(2 ** power).readUIntBE(0, 2 ** power);
  }

  #text(length: number): string {
    return this.#take(length).toString();
  }

  #list(length: number, depth: number): JsonValue {
    const first = length === 2 ? this.read(depth + 1) : null;
    if (Buffer.isBuffer(first) && depth > 0) throw new Error('a part of a value has a type of its own');
    if (Buffer.isBuffer(first)) return this.#json(depth);
    const items: JsonValue[] = length === 2 ? [first] : [];
    while (items.length < length) items.push(this.#json(depth));
    return items;
  }

  #map(length: number, depth: number): JsonValue {
    const members: [string, JsonValue][] = [];
    for (let index = 0; index < length; index++) members.push([String(this.#json(depth)), this.#json(depth)]);
    const map = Object.fromEntries(members);
    if (Object.keys(map).length !== length) throw new Error('a value has a key twice');
    return map;
  }

  #json(depth: number): JsonValue {
    const value = this.read(depth + 1);
    if (Buffer.isBuffer(value)) throw new Error('a value is of an unknown type');
    return value;
  }

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    if (taken.length !== length) throw new Error('a value is incomplete');
    this.#at += length;
    return taken;
  }
}
