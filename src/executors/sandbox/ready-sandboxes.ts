import { reportUnforeseen } from '../attempt/attempt-error.ts';
import { Sandbox, type SandboxShape, type SandboxWorkshop } from './sandbox.ts';

/** What is kept of one shape. */
interface Shelf {
  readonly shape: SandboxShape;
  readonly ready: Sandbox[];
  making: number;
  inUse: number;
  usedAt: number;
}

/** At most so many of one shape wait for a job. */
const mostReady = 4;
/** A job that starts has the processors first. */
const refillAfterMs = 5;
/** A shape that nobody has used for so long is given up. */
const keepMs = 5 * 60_000;
const lookEveryMs = 60_000;

/**
 * Sandboxes that are made before they are needed. Making one takes longer than many a job: control groups, namespaces and
 * mounts take the kernel 20 to 40 ms. So each shape that was used has a few ready: as many as are in use, and at least one.
 * A sandbox that waits is empty and runs nothing but its shell and its relay.
 */
export class ReadySandboxes {
  readonly #workshop: SandboxWorkshop;
  readonly #shelves = new Map<string, Shelf>();
  readonly #look: NodeJS.Timeout;
  #made = 0;
  #isClosed = false;

  constructor(workshop: SandboxWorkshop) {
    this.#workshop = workshop;
    this.#look = setInterval(() => this.#giveUpUnused(), lookEveryMs).unref();
  }

  /** One of this shape: one that is ready, or else a new one. */
  async take(shape: SandboxShape): Promise<Sandbox> {
    const shelf = this.#shelfOf(shape);
    shelf.usedAt = Date.now();
    shelf.inUse++;
    setTimeout(() => this.#refill(shelf), refillAfterMs).unref();
    for (let sandbox = shelf.ready.pop(); sandbox; sandbox = shelf.ready.pop()) {
      if (!sandbox.job.hasExited) return sandbox;
      sandbox.discard();
    }
    return this.make(shape).catch((error: unknown) => {
      shelf.inUse--;
      throw error;
    });
  }

  /** One that is made now, of a shape that no other job will have. */
  make(shape: SandboxShape): Promise<Sandbox> {
    return Sandbox.make(this.#workshop, shape, String(++this.#made));
  }

  /** Says that the job of a sandbox that was taken has ended. */
  release(shape: SandboxShape): void {
    this.#shelfOf(shape).inUse--;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#look);
    for (const shelf of this.#shelves.values()) this.#empty(shelf);
  }

  #refill(shelf: Shelf): void {
    const wanted = Math.min(Math.max(1, shelf.inUse), mostReady);
    while (!this.#isClosed && shelf.ready.length + shelf.making < wanted) {
      shelf.making++;
      this.#makeReady(shelf)
        .catch(reportUnforeseen)
        .finally(() => shelf.making--);
    }
  }

  async #makeReady(shelf: Shelf): Promise<void> {
    const sandbox = await this.make(shelf.shape);
    const said = await sandbox.job.next();
    if (said?.word === 'waiting' && !this.#isClosed) shelf.ready.push(sandbox);
    // A job that needs one finds out by itself why none can be made.
    else sandbox.discard();
  }

  #giveUpUnused(): void {
    const oldest = Date.now() - keepMs;
    for (const [key, shelf] of this.#shelves) {
      if (shelf.usedAt > oldest || shelf.inUse > 0 || shelf.making > 0) continue;
      this.#empty(shelf);
      this.#shelves.delete(key);
    }
  }

  #empty(shelf: Shelf): void {
    for (const sandbox of shelf.ready.splice(0)) sandbox.discard();
  }

  #shelfOf(shape: SandboxShape): Shelf {
    const key = JSON.stringify(shape);
    const known = this.#shelves.get(key);
    if (known) return known;
    const shelf: Shelf = { shape, ready: [], making: 0, inUse: 0, usedAt: Date.now() };
    this.#shelves.set(key, shelf);
    return shelf;
  }
}
