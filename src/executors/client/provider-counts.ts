import type { ProviderCounts } from '../protocol/messages.ts';

const none: ProviderCounts = { hits: 0, fetches: 0, evictions: 0, bytes: 0 };

/** Adds up what the hosts of one executor report about their store of providers. Each host counts from zero. */
export class ProviderTotals {
  #before = none;
  #reported = none;

  get counts(): ProviderCounts {
    const [one, other] = [this.#before, this.#reported];
    return {
      hits: one.hits + other.hits,
      fetches: one.fetches + other.fetches,
      evictions: one.evictions + other.evictions,
      bytes: other.bytes,
    };
  }

  startHost(): void {
    this.#before = { ...this.counts, bytes: 0 };
    this.#reported = none;
  }

  take(counts: ProviderCounts): void {
    this.#reported = counts;
  }
}
