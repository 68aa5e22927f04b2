import { createHash, createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { codeOf, reportUnexpectedError } from '../../shared/errors.ts';
import { withoutChecksums } from '../providers/lock-file.ts';
import type { ProviderStore } from '../providers/provider-store.ts';

/**
 * The results of `init`, cached for later runs of the same template version with the same tool: links to providers of the store, modules
 * and the tool's record of its backend. Only the tool writes them, in a sandbox that runs no template code; all other sandboxes see
 * them read-only.
 */
export interface Initialization {
  /** The directory `.terraform` on the host. */
  readonly data: string;
  /** The dependency lock file; null without providers. */
  readonly lock: Buffer | null;
  /** The lock file that the tool gets. A plan is only applied with the one that it was made with. */
  readonly toolLock: Buffer | null;
  /** Digest of the modules, which is part of a plan's digest. */
  readonly modules: string;
}

/** What `init` made. */
export interface MadeInitialization {
  readonly lock: Buffer | null;
  readonly modules: string;
  /** The keys of the providers to which it has links. */
  readonly providers: readonly string[];
}

interface CacheEntry {
  readonly name: string;
  /** Null: an earlier release made the entry, with files of providers in place of links. */
  readonly providers: readonly string[] | null;
  /** When a run last used it, in milliseconds. */
  readonly usedAt: number;
}

const maxEntries = 64;
/**
 * Entries used since then are kept, because another host of this machine may be using them. Each host reports every minute which it uses.
 */
const quietMs = 5 * 60_000;
/** Hosts of earlier releases do not report. */
const earlierQuietMs = 3600_000;
const lockName = 'lock.hcl';
const factsName = 'facts.json';

export class InitCache {
  readonly #directory: string;
  readonly #draftDirectory: string;
  readonly #providerBytes: number;
  readonly providers: ProviderStore;
  readonly #pending = new Map<string, Promise<Initialization>>();
  readonly #uses = new Map<string, number>();
  #secret: Buffer | null = null;

  /**
   * @param draftDirectory the host's own directory, which is removed after the host was killed
   * @param providerBytes the maximum size of the store of providers
   */
  constructor(directory: string, draftDirectory: string, providers: ProviderStore, providerBytes: number) {
    this.#directory = directory;
    this.#draftDirectory = draftDirectory;
    this.providers = providers;
    this.#providerBytes = providerBytes;
  }

  /**
   * Returns the key of a cache entry. Credentials may decide what `init` can fetch, so environments do not share entries: the
   * key includes a keyed digest of their variables.
   */
  keyOf(facts: object, secrets: object): string {
    const keyed = createHmac('sha256', this.#readSecret()).update(canonicalJson(secrets)).digest('hex');
    return createHash('sha256')
      .update(canonicalJson([facts, keyed]))
      .digest('hex');
  }

  /** Returns an entry, or calls `make` to create it in the directory that it gets. Concurrent attempts share one `make`. */
  async obtain(key: string, make: (data: string) => Promise<MadeInitialization>): Promise<Initialization> {
    this.#uses.set(key, (this.#uses.get(key) ?? 0) + 1);
    try {
      return (await this.#joinPending(key)) ?? (await this.#makeShared(key, make));
    } catch (error) {
      this.release(key);
      throw error;
    }
  }

  /** Waits for the entry that another attempt is making. Null if that fails: this attempt then makes its own and logs why. */
  async #joinPending(key: string): Promise<Initialization | null> {
    for (let others = this.#pending.get(key); others; others = this.#pending.get(key)) {
      const made = await others.catch(() => null);
      if (made !== null) return made;
    }
    return null;
  }

  async #makeShared(key: string, make: (data: string) => Promise<MadeInitialization>): Promise<Initialization> {
    const obtained = this.#findOrMake(key, make);
    this.#pending.set(key, obtained);
    return obtained.finally(() => this.#pending.delete(key));
  }

  async #findOrMake(key: string, make: (data: string) => Promise<MadeInitialization>): Promise<Initialization> {
    return (await this.#find(key)) ?? this.#make(key, make);
  }

  /** Returns an entry; null if there is none. */
  async find(key: string): Promise<Initialization | null> {
    const found = await this.#find(key);
    if (found !== null) this.#uses.set(key, (this.#uses.get(key) ?? 0) + 1);
    return found;
  }

  /** Reports that an attempt no longer uses an entry. */
  release(key: string): void {
    const uses = (this.#uses.get(key) ?? 1) - 1;
    if (uses > 0) this.#uses.set(key, uses);
    else this.#uses.delete(key);
  }

  async #find(key: string): Promise<Initialization | null> {
    const entry = join(this.#directory, key);
    const facts = await readFile(join(entry, factsName)).catch(() => null);
    if (facts === null) return null;
    const lock = await readFile(join(entry, lockName)).catch(() => null);
    const now = new Date();
    await utimes(entry, now, now).catch(() => undefined);
    return initializationOf(entry, { lock, modules: readFacts(facts).modules });
  }

  async #make(key: string, make: (data: string) => Promise<MadeInitialization>): Promise<Initialization> {
    const draft = join(this.#draftDirectory, `init-${randomBytes(8).toString('hex')}`);
    const entry = join(this.#directory, key);
    await mkdir(join(draft, 'data'), { recursive: true, mode: 0o700 });
    try {
      const { lock, modules, providers } = await make(join(draft, 'data'));
      if (lock !== null) await writeFile(join(draft, lockName), lock, { mode: 0o600 });
      await writeFile(join(draft, factsName), JSON.stringify({ modules, providers }), { mode: 0o600 });
      await rename(draft, entry).catch(async (error: unknown) => {
        // Another host of this machine was faster, and its entry is equivalent.
        if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
        await rm(draft, { recursive: true, force: true });
      });
      void this.evict().catch(reportUnexpectedError);
      return initializationOf(entry, { lock, modules });
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
  }

  /** Reports to other hosts of this machine which entries are in use, and removes what exceeds the limits. Call it every minute. */
  async maintain(): Promise<void> {
    const now = new Date();
    for (const key of this.#uses.keys()) await utimes(join(this.#directory, key), now, now).catch(() => undefined);
    await this.evict();
  }

  /** Removes the least recently used entries beyond the limits, but none that is in use. */
  async evict(): Promise<void> {
    const entries = (await this.#list()).sort((a, b) => a.usedAt - b.usedAt);
    const outdated = entries.filter(({ providers, usedAt }) => providers === null && isQuiet(usedAt, earlierQuietMs));
    for (const { name } of [...outdated, ...entries.slice(0, Math.max(0, entries.length - maxEntries))])
      await this.#removeUnused(name);
    await this.#evictProviders(entries);
  }

  /**
   * Removes the least recently used providers beyond the limit, with the initializations that have links to them: their space is only free
   * when the last link is gone.
   */
  async #evictProviders(entries: readonly CacheEntry[]): Promise<void> {
    const stored = await this.providers.list();
    let { bytes } = this.providers.counts;
    const usersOf = (key: string) => entries.filter(({ providers }) => providers?.includes(key));
    const aged = stored
      .map((each) => ({ ...each, usedAt: Math.max(each.usedAt, ...usersOf(each.key).map(({ usedAt }) => usedAt)) }))
      .sort((a, b) => a.usedAt - b.usedAt);
    for (const { key, usedAt, bytes: size } of aged) {
      if (bytes <= this.#providerBytes || !isQuiet(usedAt)) return;
      const users = usersOf(key);
      if (users.some(({ name }) => this.#isUsed(name))) continue;
      const removed = await Promise.all(users.map(({ name }) => this.#removeUnused(name)));
      if (removed.includes(false)) continue;
      await this.providers.remove(key);
      bytes -= size;
    }
  }

  async #list(): Promise<CacheEntry[]> {
    const names = await readdir(this.#directory).catch(() => []);
    const entries = names
      .filter((name) => /^[0-9a-f]{64}$/.test(name))
      .map(async (name) => {
        const entry = join(this.#directory, name);
        const facts = await readFile(join(entry, factsName)).catch(() => null);
        const stats = await stat(entry).catch(() => null);
        return facts && stats && { name, providers: readFacts(facts).providers, usedAt: stats.mtimeMs };
      });
    return (await Promise.all(entries)).filter((entry) => entry !== null);
  }

  #isUsed(name: string): boolean {
    return this.#uses.has(name) || this.#pending.has(name);
  }

  /** Removes an entry; false if it is in use. Between the check and the removal, nothing else happens in this process. */
  async #removeUnused(name: string): Promise<boolean> {
    const entry = join(this.#directory, name);
    const stats = statSync(entry, { throwIfNoEntry: false });
    if (stats === undefined) return true;
    if (this.#isUsed(name) || !isQuiet(stats.mtimeMs)) return false;
    const gone = join(this.#draftDirectory, `removed-${randomBytes(8).toString('hex')}`);
    renameSync(entry, gone);
    await rm(gone, { recursive: true, force: true });
    return true;
  }

  #readSecret(): Buffer {
    if (this.#secret !== null) return this.#secret;
    const path = join(this.#directory, 'key');
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    if (!existsSync(path)) writeFileSync(path, randomBytes(32), { mode: 0o600 });
    this.#secret = readFileSync(path);
    return this.#secret;
  }
}

function initializationOf(
  entry: string,
  { lock, modules }: Pick<MadeInitialization, 'lock' | 'modules'>,
): Initialization {
  return { data: join(entry, 'data'), lock, toolLock: lock && withoutChecksums(lock), modules };
}

const Facts = z.object({ modules: z.string(), providers: z.array(z.string()).nullable().default(null) });

function readFacts(content: Buffer): z.output<typeof Facts> {
  return Facts.parse(JSON.parse(content.toString()));
}

function isQuiet(usedAt: number, sinceMs = quietMs): boolean {
  return usedAt < Date.now() - sinceMs;
}
