/** Keeps a program's output, up to a number of bytes. */
export class OutputCapture {
  readonly #limit: number;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  /** Whether the program printed more than that. */
  isTruncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  readonly take = (piece: Buffer): void => {
    if (this.#bytes + piece.length > this.#limit) this.isTruncated = true;
    if (this.isTruncated) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  };

  content(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
