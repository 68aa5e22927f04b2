import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '#executors/shared/errors.ts';

const quietTurns = 2;
/** How long to wait for more output after a program has ended; processes it left behind may go on printing. */
const idleTimeoutMs = 200;

/** Reads a program's output piece by piece, each one after the previous has been taken. */
export class OutputPump {
  readonly #source: Readable;
  readonly #take: (piece: Buffer) => Promise<void> | void;
  readonly ended: Promise<void>;
  #pieces = 0;
  #isTaking = false;
  #hasEnded = false;

  constructor(source: Readable, take: (piece: Buffer) => Promise<void> | void) {
    this.#source = source;
    this.#take = take;
    this.ended = this.#run();
  }

  async #run(): Promise<void> {
    try {
      for await (const piece of this.#source) {
        this.#pieces++;
        this.#isTaking = true;
        await this.#take(piece);
        this.#isTaking = false;
      }
    } catch (error) {
      // This side closed the stream because no more output was wanted.
      if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
    } finally {
      this.#isTaking = false;
      this.#hasEnded = true;
    }
  }

  get state(): { pieces: number; isTaking: boolean; hasEnded: boolean } {
    return { pieces: this.#pieces, isTaking: this.#isTaking, hasEnded: this.#hasEnded };
  }

  /** Stops reading and discards further output. */
  close(): void {
    this.#source.destroy();
  }
}

/**
 * Resolves when everything printed so far has been taken: two turns of the event loop in a row found nothing to read. Taking may
 * last as long as it needs, but a program that does not stop printing is waited for only briefly.
 */
export async function awaitIdleOutput(pumps: readonly OutputPump[]): Promise<void> {
  const deadline = Date.now() + idleTimeoutMs;
  let waitedForTaking = 0;
  for (let quiet = 0, seen = -1; quiet < quietTurns && Date.now() < deadline + waitedForTaking; ) {
    await nextTurn();
    const states = pumps.map(({ state }) => state);
    const total = states.reduce((sum, { pieces }) => sum + pieces, 0);
    if (states.some(({ isTaking }) => isTaking)) {
      const from = Date.now();
      await sleep(1);
      waitedForTaking += Date.now() - from;
      quiet = 0;
    } else quiet = total === seen ? quiet + 1 : 0;
    seen = total;
  }
}
