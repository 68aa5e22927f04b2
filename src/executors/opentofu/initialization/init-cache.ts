import { createHash, createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { codeOf, reportUnexpectedError } from '../../shared/errors.ts';

/**
 * The results of `init`, cached for later runs of the same template version with the same tool: providers, modules and the
 * tool's record of its backend. Only the tool writes them, in a sandbox that runs no template code; all other sandboxes see
 * them read-only.
 */
export interface Initialization {
  /** The directory `.terraform` on the host. */
  readonly data: string;
  /** The dependency lock file; null without providers. */
  readonly lock: Buffer | null;
  /** Digest of the modules, which is part of a plan's digest. */
  readonly modules: string;
}

const maxEntries = 64;
/** Younger entries are kept, because another host of this machine may be using them. */
const minAgeMs = 3600_000;
const lockName = 'lock.hcl';
const factsName = 'facts.json';

export class InitCache {
  readonly #directory: string;
  readonly #draftDirectory: string;
  readonly #pending = new Map<string, Promise<Initialization>>();
  readonly #uses = new Map<string, number>();
  #secret: Buffer | null = null;

  /** @param draftDirectory the host's own directory, which is removed after the host was killed */
  constructor(directory: string, draftDirectory: string) {
    this.#directory = directory;
    this.#draftDirectory = draftDirectory;
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
  async obtain(
    key: string,
    make: (data: string) => Promise<{ lock: Buffer | null; modules: string }>,
  ): Promise<Initialization> {
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

  async #makeShared(
    key: string,
    make: (data: string) => Promise<{ lock: Buffer | null; modules: string }>,
  ): Promise<Initialization> {
    const obtained = this.#findOrMake(key, make);
    this.#pending.set(key, obtained);
    return obtained.finally(() => this.#pending.delete(key));
  }

  async #findOrMake(
    key: string,
    make: (data: string) => Promise<{ lock: Buffer | null; modules: string }>,
  ): Promise<Initialization> {
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
    const facts = await readFile(join(entry, factsName), 'utf8').catch(() => null);
    if (facts === null) return null;
    const lock = await readFile(join(entry, lockName)).catch(() => null);
    const now = new Date();
    await utimes(entry, now, now).catch(() => undefined);
    return { data: join(entry, 'data'), lock, modules: readModules(facts) };
  }

  async #make(
    key: string,
    make: (data: string) => Promise<{ lock: Buffer | null; modules: string }>,
  ): Promise<Initialization> {
    const draft = join(this.#draftDirectory, `init-${randomBytes(8).toString('hex')}`);
    const entry = join(this.#directory, key);
    await mkdir(join(draft, 'data'), { recursive: true, mode: 0o700 });
    try {
      const { lock, modules } = await make(join(draft, 'data'));
      if (lock !== null) await writeFile(join(draft, lockName), lock, { mode: 0o600 });
      await writeFile(join(draft, factsName), JSON.stringify({ modules }), { mode: 0o600 });
      await rename(draft, entry).catch(async (error: unknown) => {
        // Another host of this machine was faster, and its entry is equivalent.
        if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
        await rm(draft, { recursive: true, force: true });
      });
      void this.#evictOldest().catch(reportUnexpectedError);
      return { data: join(entry, 'data'), lock, modules };
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
  }

  /** Removes the least recently used entries beyond the limit. */
  async #evictOldest(): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => /^[0-9a-f]{64}$/.test(name));
    const unused = names.filter((name) => !this.#uses.has(name) && !this.#pending.has(name));
    const aged = await Promise.all(
      unused.map(async (name) => ({ name, at: (await stat(join(this.#directory, name))).mtimeMs })),
    );
    const tooMany = Math.max(0, names.length - maxEntries);
    const old = aged.filter(({ at }) => at < Date.now() - minAgeMs).sort((a, b) => a.at - b.at);
    for (const { name } of old.slice(0, tooMany)) {
      await rm(join(this.#directory, name), { recursive: true, force: true });
    }
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

function readModules(facts: string): string {
  const parsed: unknown = JSON.parse(facts);
  return typeof parsed === 'object' && parsed !== null && 'modules' in parsed ? String(parsed.modules) : '';
}
