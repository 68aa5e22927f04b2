import { reportUnexpectedError } from '../shared/errors.ts';
import { Sandbox, type SandboxConfig, type SandboxShape } from './sandbox.ts';

/** The ready sandboxes of one shape. */
interface WarmSet {
  readonly shape: SandboxShape;
  readonly ready: Sandbox[];
  making: number;
  inUse: number;
  usedAt: number;
}

/** The maximum number of sandboxes of one shape that wait for a job. */
const maxReady = 4;
/** Delays new sandboxes, so that a starting job gets the processors first. */
const refillAfterMs = 5;
/** How long sandboxes of an unused shape are kept. */
const keepMs = 5 * 60_000;
const evictEveryMs = 60_000;

/**
 * Makes sandboxes before they are needed. Control groups, namespaces and mounts take the kernel 20 to 40 ms, longer than many
 * jobs. Each shape in use keeps a few sandboxes ready: as many as are in use, and at least one. A waiting sandbox is empty and
 * runs only its shell and its relay.
 */
export class WarmSandboxes {
  readonly #config: SandboxConfig;
  readonly #warmSets = new Map<string, WarmSet>();
  readonly #evictTimer: NodeJS.Timeout;
  #made = 0;
  #isClosed = false;

  constructor(config: SandboxConfig) {
    this.#config = config;
    this.#evictTimer = setInterval(() => this.#evictUnused(), evictEveryMs).unref();
  }

  /** Returns a sandbox of this shape: one that is ready, or a new one. */
  async take(shape: SandboxShape): Promise<Sandbox> {
    const warmSet = this.#warmSetOf(shape);
    warmSet.usedAt = Date.now();
    warmSet.inUse++;
    setTimeout(() => this.#refill(warmSet), refillAfterMs).unref();
    for (let sandbox = warmSet.ready.pop(); sandbox; sandbox = warmSet.ready.pop()) {
      if (!sandbox.job.hasExited) return sandbox;
      sandbox.discard();
    }
    return this.make(shape).catch((error: unknown) => {
      warmSet.inUse--;
      throw error;
    });
  }

  /** Makes a sandbox now, of a shape that no other job will have. */
  make(shape: SandboxShape): Promise<Sandbox> {
    return Sandbox.make(this.#config, shape, String(++this.#made));
  }

  /** Reports that the job of a taken sandbox has ended. */
  release(shape: SandboxShape): void {
    this.#warmSetOf(shape).inUse--;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#evictTimer);
    for (const warmSet of this.#warmSets.values()) this.#empty(warmSet);
  }

  #refill(warmSet: WarmSet): void {
    const wanted = Math.min(Math.max(1, warmSet.inUse), maxReady);
    while (!this.#isClosed && warmSet.ready.length + warmSet.making < wanted) {
      warmSet.making++;
      this.#makeReady(warmSet)
        .catch(reportUnexpectedError)
        .finally(() => warmSet.making--);
    }
  }

  async #makeReady(warmSet: WarmSet): Promise<void> {
    const sandbox = await this.make(warmSet.shape);
    const event = await sandbox.job.next();
    if (event?.name === 'waiting' && !this.#isClosed) warmSet.ready.push(sandbox);
    // The next job makes its own sandbox and so finds out why this one failed.
    else sandbox.discard();
  }

  #evictUnused(): void {
    const oldest = Date.now() - keepMs;
    for (const [key, warmSet] of this.#warmSets) {
      if (warmSet.usedAt > oldest || warmSet.inUse > 0 || warmSet.making > 0) continue;
      this.#empty(warmSet);
      this.#warmSets.delete(key);
    }
  }

  #empty(warmSet: WarmSet): void {
    for (const sandbox of warmSet.ready.splice(0)) sandbox.discard();
  }

  #warmSetOf(shape: SandboxShape): WarmSet {
    const key = JSON.stringify(shape);
    const known = this.#warmSets.get(key);
    if (known) return known;
    const warmSet: WarmSet = { shape, ready: [], making: 0, inUse: 0, usedAt: Date.now() };
    this.#warmSets.set(key, warmSet);
    return warmSet;
  }
}
