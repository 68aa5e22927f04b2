import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '#executors/attempt/attempt-error.ts';

const quietTurns = 2;
/** How long output is waited for once its program has ended: what that left running may go on printing. */
const patienceMs = 200;

/** Takes what a program prints, piece by piece; the next piece is read once the one before it was taken. */
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
      // Closed from this side, when nothing more was wanted.
      if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
    } finally {
      this.#isTaking = false;
      this.#hasEnded = true;
    }
  }

  get state(): { pieces: number; isTaking: boolean; hasEnded: boolean } {
    return { pieces: this.#pieces, isTaking: this.#isTaking, hasEnded: this.#hasEnded };
  }

  /** Stops reading: nothing that still comes is wanted. */
  close(): void {
    this.#source.destroy();
  }
}

/**
 * Resolves when everything that was printed up to now has been taken: when the event loop has turned twice and found
 * nothing to read. Waits as long as taking takes, and a little for programs that do not stop printing.
 */
export async function awaitQuiet(pumps: readonly OutputPump[]): Promise<void> {
  const deadline = Date.now() + patienceMs;
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
