/**
 * The shares that this process found full a moment ago. Finding out takes a lock on the share and a look at everything in it, and whoever waits for the
 * lock keeps a connection. Without this, somebody whose share is full could keep all connections waiting.
 */
export class FullShares {
  readonly #foundAt = new Map<string, number>();

  add(share: string): void {
    this.#forgetOld();
    this.#foundAt.set(share, performance.now());
  }

  has(share: string): boolean {
    const at = this.#foundAt.get(share);
    return at !== undefined && performance.now() - at < rememberedMs;
  }

  #forgetOld(): void {
    for (const share of this.#foundAt.keys()) if (!this.has(share)) this.#foundAt.delete(share);
  }
}

/** What has ended makes room after this time at the latest. */
const rememberedMs = 1_000;
