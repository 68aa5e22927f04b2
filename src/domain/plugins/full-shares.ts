/**
 * The shares that this process found full a moment ago. Counting a share locks it and reads everything in it, and each command that waits
 * for the lock occupies a connection. Without this memory, somebody whose share is full could block all connections.
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

/** How long a share is remembered as full. After this time, ended rows free their places. */
const rememberedMs = 1_000;
