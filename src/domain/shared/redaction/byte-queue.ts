const minCapacity = 4096;

/** Bytes that are appended at the end and taken at the front. Each byte is copied at most a few times, even if the pieces are small. */
export class ByteQueue {
  #bytes = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  #copied = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  /** How many bytes were copied in all, as a measure of the work. */
  get copied(): number {
    return this.#copied;
  }

  append(piece: Buffer): void {
    this.#makeRoom(piece.length);
    piece.copy(this.#bytes, this.#end);
    this.#end += piece.length;
    this.#copied += piece.length;
  }

  /** Removes bytes at the front and returns them. */
  take(length: number): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(this.#start, this.#start + length));
    this.#start += taken.length;
    this.#copied += taken.length;
    return taken;
  }

  /** Removes bytes at the front. */
  drop(length: number): void {
    this.#start = Math.min(this.#start + length, this.#end);
  }

  /** The bytes without removing them. They are valid until the next change. */
  peek(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  /** Moves the bytes to the front if half of the buffer is free, and doubles the buffer otherwise. */
  #makeRoom(length: number): void {
    if (this.#end + length <= this.#bytes.length) return;
    const held = this.peek();
    const needed = held.length + length;
    const isRoomy = needed * 2 <= this.#bytes.length;
    const target = isRoomy ? this.#bytes : Buffer.alloc(Math.max(needed * 2, minCapacity));
    held.copy(target);
    this.#copied += held.length;
    this.#bytes = target;
    this.#start = 0;
    this.#end = held.length;
  }
}
