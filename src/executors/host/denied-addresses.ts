import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

const refreshMs = 60_000;

/**
 * The names and addresses of the service's own parts, which no template may reach. A template may know a part by another name,
 * so the addresses of the names are denied too. They are looked up again regularly.
 */
export class DeniedAddresses {
  readonly #given: readonly string[];
  #resolved: readonly string[] = [];

  constructor(given: readonly string[]) {
    this.#given = given;
    setInterval(() => void this.refresh(), refreshMs).unref();
  }

  get entries(): readonly string[] {
    return [...this.#given, ...this.#resolved];
  }

  /** A name that cannot be looked up now keeps its previous addresses. */
  async refresh(): Promise<void> {
    const names = this.#given.filter((entry) => isIP(entry) === 0 && !entry.includes('/') && !entry.startsWith('*'));
    const answers = await Promise.all(names.map((name) => lookup(name, { all: true }).catch(() => null)));
    const found = answers.flatMap((answer) => answer ?? []).map(({ address }) => address);
    this.#resolved = answers.includes(null) ? [...new Set([...this.#resolved, ...found])] : found;
  }
}
