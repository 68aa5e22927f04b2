import type { Duplex } from 'node:stream';
import type { ZodType } from 'zod';
import { encodeFrame, type Frame, FrameReader } from './frames.ts';

/** One end of the pipe between a worker and its executor host. */
export class Channel<Sent extends { type: string }, Received extends { type: string }> {
  readonly #pipe: Duplex;
  readonly closed: Promise<void>;
  /** The error that made this end close the pipe; null if the other end closed it. */
  failure: Error | null = null;

  /**
   * Passes frames to `receive` in order. A frame that breaks the framing or the schema, or that `receive` throws on, closes the
   * channel.
   */
  constructor(pipe: Duplex, schema: ZodType<Received>, receive: (frame: Frame<Received>) => void) {
    this.#pipe = pipe;
    const reader = new FrameReader<unknown>();
    this.closed = new Promise((resolve) => {
      pipe.once('close', () => resolve());
    });
    pipe.on('error', () => pipe.destroy());
    pipe.on('end', () => pipe.destroy());
    pipe.on('data', (piece: Buffer) => {
      try {
        for (const { message, body } of reader.push(piece)) receive({ message: schema.parse(message), body });
      } catch (error) {
        this.failure = error instanceof Error ? error : new Error(String(error));
        pipe.destroy();
      }
    });
  }

  /** Queues a message. Sending to a closed channel does nothing; `closed` reports the end. */
  send(message: Sent, body?: Buffer): void {
    if (!this.#pipe.destroyed && !this.#pipe.writableEnded) this.#pipe.write(encodeFrame(message, body));
  }

  destroy(): void {
    this.#pipe.destroy();
  }
}
