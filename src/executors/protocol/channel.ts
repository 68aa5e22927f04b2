import type { Duplex } from 'node:stream';
import type { ZodType } from 'zod';
import { encodeFrame, type Frame, FrameReader } from './frames.ts';

/** One end of the pipe between a worker and its executor host. */
export class Channel<Sent extends { type: string }, Received extends { type: string }> {
  readonly #pipe: Duplex;
  readonly closed: Promise<void>;
  /** Why this end gave the pipe up; null where the other end did. */
  failure: Error | null = null;

  /** `receive` gets frames in order. What does not fit the schema, what it throws, and whatever breaks the framing, closes the channel. */
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

  /** Queues a message. Nothing is reported where the other end is gone: `closed` tells. */
  send(message: Sent, body?: Buffer): void {
    if (!this.#pipe.destroyed && !this.#pipe.writableEnded) this.#pipe.write(encodeFrame(message, body));
  }

  destroy(): void {
    this.#pipe.destroy();
  }
}
