import ipaddr from 'ipaddr.js';
import type { Em } from '#database/database.ts';
import type { Principal } from '../access/principal.ts';
import { type AuditEntry, type RequestFacts, recordAudit } from '../audit.ts';

/** The maximum numbers of refusals that are recorded per minute. */
export interface RefusalShares {
  /** For each principal or, without a principal, for each network. */
  readonly each: number;
  /** For all unauthenticated callers together: addresses are cheap to change. */
  readonly unknown: number;
}

/**
 * Records refusals in the audit, up to a number a minute for each principal or network, so that refused requests cannot fill the disk. The
 * last record of a minute says that it is the last one. Each process counts by itself: a shared count would cost as much as the write that
 * it saves.
 */
export class RefusalLog {
  readonly #shares: RefusalShares;
  #minute = 0;
  #counts = new Map<string, number>();

  constructor(shares: RefusalShares = { each: 60, unknown: 300 }) {
    this.#shares = shares;
  }

  /** Records a refusal in a statement of its own, unless the caller has used up this minute's share. */
  async record(em: Em, actor: Principal, entry: AuditEntry, request: RequestFacts): Promise<void> {
    const left = this.#take(actor, request);
    if (left === 0) return;
    const after = left === 1 ? { ...entry.after, last_of_this_minute: true } : (entry.after ?? null);
    await recordAudit(em, actor, { ...entry, after }, request, 'refused');
  }

  /** Whether this process has recorded a refusal of the principal in the current minute. */
  hasRefused(principal: Principal): boolean {
    this.#begin(Math.floor(Date.now() / 60_000));
    return this.#used(principal.id) > 0;
  }

  /**
   * Uses up one record, and returns how many were still allowed, this one included; 0: none. A refusal that is not recorded is not counted
   * either.
   */
  #take(actor: Principal, { address }: RequestFacts): number {
    this.#begin(Math.floor(Date.now() / 60_000));
    const shares = this.#sharesOf(actor, address);
    const left = Math.min(...shares.map(({ key, share }) => share - this.#used(key)));
    if (left > 0) for (const { key } of shares) this.#counts.set(key, this.#used(key) + 1);
    return left;
  }

  #sharesOf(actor: Principal, address: string | null): { key: string; share: number }[] {
    const { each, unknown } = this.#shares;
    if (actor.kind !== 'system') return [{ key: actor.id, share: each }];
    return [
      { key: networkOf(address), share: each },
      { key: 'unknown', share: unknown },
    ];
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

/** An IPv6 address counts as its /64 network, since one subscriber can use every address of it. */
function networkOf(address: string | null): string {
  if (address === null || !ipaddr.isValid(address)) return 'nowhere';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}/64` : parsed.toString();
}
