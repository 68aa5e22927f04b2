import type { Redactor } from '#domain/shared/redaction/redactor.ts';

/** The number of bytes that are kept from the end of the log of each call, because errors are near the end. */
export const maxDebugBytesOfCall = 4 * 1024 * 1024;
const maxDebugBytes = 12 * 1024 * 1024;

/** The debug log of the tool during an attempt. It is separate from the attempt's log. */
export class DebugLog {
  readonly #redactor: Redactor;
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /**
   * Adds the end of the log of one call. If the beginning was cut off, the first line that remains is left out: it may begin inside a
   * secret, and the rest of a secret would not be recognized. Adds nothing beyond the limit of an attempt.
   */
  add(title: string, end: Buffer): void {
    const firstLine = end.indexOf('\n');
    const content = end.length < maxDebugBytesOfCall ? end : end.subarray(firstLine < 0 ? end.length : firstLine + 1);
    const part = Buffer.concat([Buffer.from(`== ${title} ==\n`), content, Buffer.from('\n')]);
    if (this.#bytes + part.length > maxDebugBytes) return;
    this.#bytes += part.length;
    this.#parts.push(part);
  }

  /** The whole log without the secrets that are known by now; null if there is none. */
  content(): Buffer | null {
    if (this.#parts.length === 0) return null;
    return Buffer.from(this.#redactor.redactText(Buffer.concat(this.#parts).toString()));
  }
}
