import { parseWrittenJson } from '#domain/shared/values/exact-json.ts';

/** Frames on a pipe: length of the header, length of the body (both 32 bits, big-endian), header as JSON, body. */

const prefixBytes = 8;
const maxHeaderBytes = 128 * 1024 * 1024;
const maxBodyBytes = 512 * 1024 * 1024;

export interface Frame<Message> {
  readonly message: Message;
  readonly body: Buffer;
}

export class BrokenFrame extends Error {}

const nothing = Buffer.alloc(0);

export function encodeFrame(message: object, body: Buffer = nothing): Buffer {
  const header = Buffer.from(JSON.stringify(message));
  if (header.length > maxHeaderBytes || body.length > maxBodyBytes) throw new BrokenFrame('a frame is too large');
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(header.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  return Buffer.concat([prefix, header, body]);
}

/** Assembles frames from the pieces that a pipe delivers. The receiver checks what the messages say. */
export class FrameReader<Message> {
  readonly #pieces: Buffer[] = [];
  #available = 0;
  #needed = prefixBytes;

  /** Returns the frames that `piece` completes. @throws BrokenFrame if the bytes are not frames */
  push(piece: Buffer): Frame<Message>[] {
    this.#pieces.push(piece);
    this.#available += piece.length;
    if (this.#available < this.#needed) return [];
    return this.#readFrames(this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces));
  }

  #readFrames(bytes: Buffer): Frame<Message>[] {
    const frames: Frame<Message>[] = [];
    let rest = bytes;
    for (;;) {
      this.#needed = measureFrame(rest);
      if (rest.length < this.#needed) break;
      frames.push(decodeFrame(rest.subarray(0, this.#needed)));
      rest = rest.subarray(this.#needed);
    }
    this.#pieces.length = 0;
    if (rest.length > 0) this.#pieces.push(rest);
    this.#available = rest.length;
    return frames;
  }
}

function measureFrame(bytes: Buffer): number {
  if (bytes.length < prefixBytes) return prefixBytes;
  const header = bytes.readUInt32BE(0);
  const body = bytes.readUInt32BE(4);
  if (header > maxHeaderBytes || body > maxBodyBytes) throw new BrokenFrame('a frame is longer than allowed');
  return prefixBytes + header + body;
}

function decodeFrame<Message>(frame: Buffer): Frame<Message> {
  const bodyStart = prefixBytes + frame.readUInt32BE(0);
  try {
    const message = parseWrittenJson(frame.toString('utf8', prefixBytes, bodyStart)) as Message;
    return { message, body: frame.subarray(bodyStart) };
  } catch (cause) {
    throw new BrokenFrame("a frame's header is not JSON", { cause });
  }
}
