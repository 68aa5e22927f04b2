import ipaddr from 'ipaddr.js';
import type { Em } from '#database/database.ts';
import type { Principal } from '../access/principal.ts';
import { type AuditEntry, insertAuditRecord, type RequestFacts } from '../audit.ts';
import { newId } from '../ids.ts';

/** How many refusals a minute are kept. */
export interface RefusalShares {
  /** Of one principal; of one network, where nobody knows who asks. */
  readonly each: number;
  /** Of all together of whom nobody knows who they are: networks are cheap. */
  readonly unknown: number;
}

/**
 * Keeps refusals from being a way to fill the disk: so many rows a minute for each principal, and for each address where
 * there is none. The last one that is kept says that it is. Each process counts for itself: counting together would cost
 * the write that it is there to save.
 */
export class RefusalLog {
  readonly #shares: RefusalShares;
  #minute = 0;
  #counts = new Map<string, number>();

  constructor(shares: RefusalShares = { each: 60, unknown: 300 }) {
    this.#shares = shares;
  }

  /** Records a refusal by itself, outside any command, unless whoever was refused has used up this minute's share. */
  async record(em: Em, actor: Principal, entry: AuditEntry, request: RequestFacts): Promise<void> {
    const left = this.#take(actor, request);
    if (left === 0) return;
    const after = left === 1 ? { ...entry.after, last_of_this_minute: true } : (entry.after ?? null);
    await insertAuditRecord(em, newId(), actor, { ...entry, after }, request, 'refused').execute();
  }

  /** How many there may be, this one included. What is not kept is not counted either, so that the counts stay few. */
  #take(actor: Principal, { address }: RequestFacts): number {
    this.#begin(Math.floor(Date.now() / 60_000));
    const { each, unknown } = this.#shares;
    const shares: [key: string, share: number][] =
      actor.kind === 'system'
        ? [
            [networkOf(address), each],
            ['unknown', unknown],
          ]
        : [[actor.id, each]];
    const left = Math.min(...shares.map(([key, share]) => share - this.#used(key)));
    if (left > 0) for (const [key] of shares) this.#counts.set(key, this.#used(key) + 1);
    return left;
  }

  #used(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  #begin(minute: number): void {
    if (minute === this.#minute) return;
    this.#minute = minute;
    this.#counts = new Map();
  }
}

/** Whoever has one IPv6 address has as many as they like of the same network. */
function networkOf(address: string | null): string {
  if (address === null || !ipaddr.isValid(address)) return 'nowhere';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}/64` : parsed.toString();
}
