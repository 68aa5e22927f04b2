/** A refused or failed request. The message completes "egress to example.org:443 …". */
export class EgressRefusal extends Error {
  /** 400 malformed, 403 refused by the policy, 502 not reached, 503 too many at once, 504 too slow. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const refused = (reason: string) => new EgressRefusal(403, `refused: ${reason}`);

/** Turns any other error into the refusal of a failed connection. */
export function asRefusal(error: unknown): EgressRefusal {
  if (error instanceof EgressRefusal) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'the connection failed';
  return new EgressRefusal(502, `failed: ${code}`);
}

const shownLines = 20;

/** Logs an attempt's first refusals and counts the rest, so that they cannot fill the run's log. */
export class RefusalLog {
  readonly #write: (line: string) => void;
  #count = 0;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  add(destination: string, refusal: EgressRefusal): void {
    this.#count += 1;
    if (this.#count <= shownLines) this.#write(`egress to ${destination} ${refusal.message}`);
  }

  close(): void {
    const more = this.#count - shownLines;
    if (more > 0) this.#write(`egress: ${more} more requests were refused or failed`);
    this.#count = 0;
  }
}
