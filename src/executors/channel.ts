import type { Duplex } from 'node:stream';
import { encodeFrame, type Frame, FrameReader } from './frames.ts';

/** One end of the pipe between a worker and an executor. */
export class Channel<Sent extends { type: string }, Received extends { type: string }> {
  readonly #pipe: Duplex;
  readonly closed: Promise<void>;

  /** `receive` gets frames in order; what it throws, and whatever breaks the framing, closes the channel. */
  constructor(pipe: Duplex, receive: (frame: Frame<Received>) => void) {
    this.#pipe = pipe;
    const reader = new FrameReader<Received>();
    this.closed = new Promise((resolve) => {
      pipe.once('close', () => resolve());
    });
    pipe.on('error', () => pipe.destroy());
    pipe.on('end', () => pipe.destroy());
    pipe.on('data', (piece: Buffer) => {
      try {
        for (const frame of reader.push(piece)) receive(frame);
      } catch (error) {
        pipe.destroy(error instanceof Error ? error : new Error(String(error)));
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
