import type { Redactor } from '#domain/shared/redaction/redactor.ts';

/** Of each call of the tool, the end of its log is kept: an error is near it. */
export const maxDebugBytesOfCall = 4 * 1024 * 1024;
const maxDebugBytes = 12 * 1024 * 1024;

/** What the tool logged about itself during an attempt, apart from the attempt's log. */
export class DebugLog {
  readonly #redactor: Redactor;
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /**
   * Adds the end of the log of one call. Of a longer log, the first line that is there is left out: it may begin inside a secret, of which
   * the rest would not be recognized. Nothing is added beyond the limit of an attempt.
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
