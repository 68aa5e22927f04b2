/** Reads what the service checks of a plan: messages of Protocol Buffers. Pure. */

export interface Field {
  readonly number: number;
  /** The content of a text, of bytes or of a message; null for a number. */
  readonly bytes: Buffer | null;
  /** The value of a number; 0 for others. */
  readonly value: number;
}

/** Yields the fields of a message in their order. @throws Error if it is not a message */
export function* readFields(message: Buffer): Generator<Field> {
  let at = 0;
  while (at < message.length) {
    const key = readVarint(message, at);
    at = key.end;
    const number = Math.floor(key.value / 8);
    const type = key.value % 8;
    if (type === 0) {
      const { value, end } = readVarint(message, at);
      yield { number, bytes: null, value };
      at = end;
    } else {
      const length = type === 2 ? readVarint(message, at) : { value: fixedLength(type), end: at };
      at = length.end + length.value;
      if (at > message.length) throw new Error('it ends within a field');
      yield { number, bytes: message.subarray(length.end, at), value: 0 };
    }
  }
}

/** The content of the only field with a number; null if there is none. @throws Error if there are several */
export function onlyField(fields: readonly Field[], number: number): Field | null {
  const found = fields.filter((field) => field.number === number);
  if (found.length > 1) throw new Error(`it has the field ${number} twice`);
  return found[0] ?? null;
}

function fixedLength(type: number): number {
  if (type === 1) return 8;
  if (type === 5) return 4;
  throw new Error('it has a field of an unknown type');
}

function readVarint(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[start + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  throw new Error('it ends within a number');
}
