import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { ProviderCounts } from '../../protocol/messages.ts';
import { codeOf } from '../../shared/errors.ts';
import { isOfPackage, type LockedProvider, platform } from './lock-file.ts';
import { sealPackage } from './package-hash.ts';

/** A provider in the store. */
export interface StoredProvider {
  readonly key: string;
  /** The directory of its unpacked package, which nobody may change. */
  readonly directory: string;
  /** The checksum of the package: `h1:…`. */
  readonly hash: string;
}

/** An entry of the store, for those who choose which to remove. */
export interface StoreEntry {
  readonly key: string;
  readonly bytes: number;
  /** When a run last took it, in milliseconds. */
  readonly usedAt: number;
}

/** What identifies a provider before its package is known. */
export type WantedProvider = Pick<LockedProvider, 'address' | 'version' | 'hashes'>;

const packageName = 'package';
const factsName = 'facts.json';
const Facts = z.object({ bytes: z.number() });
const keyPattern = /^[0-9a-f]{64}$/;

/**
 * The unpacked providers of a worker, by source address, version, platform and checksum. Two entries never share an address and a checksum
 * but not the content. A run gets hard links to the files, in directories that its sandboxes see read-only, so an entry that is removed
 * stays intact for the runs that have it.
 *
 * `reach` separates those who could not fetch from the same places: a run never gets a package that it could not fetch itself.
 */
export class ProviderStore {
  readonly #directory: string;
  readonly #draftDirectory: string;
  readonly #pending = new Map<string, Promise<StoredProvider>>();
  #counts = { hits: 0, fetches: 0, evictions: 0, bytes: 0 };

  /**
   * @param directory on one file system with the directories that get links
   * @param draftDirectory the host's own directory, which is removed after the host was killed
   */
  constructor(directory: string, draftDirectory: string) {
    this.#directory = directory;
    this.#draftDirectory = draftDirectory;
  }

  /** What happened since the host started, and the size when it was last measured. */
  get counts(): ProviderCounts {
    return { ...this.#counts };
  }

  /** Returns a provider whose package has one of the wanted checksums; null if there is none. */
  async find(wanted: WantedProvider, reach: string): Promise<StoredProvider | null> {
    for (const hash of wanted.hashes.filter(isOfPackage)) {
      const found = await this.#open(keyOf(wanted, hash, reach), hash);
      if (found === null) continue;
      this.#counts.hits++;
      return found;
    }
    return null;
  }

  /**
   * Returns a provider, or calls `fetch` to add it. Concurrent calls for the same provider share one `fetch`. If it fails, the others try
   * themselves, and so find out why.
   */
  async obtain(wanted: WantedProvider, reach: string, fetch: () => Promise<StoredProvider>): Promise<StoredProvider> {
    const name = canonicalJson([wanted.address, wanted.version, [...wanted.hashes].sort(), reach]);
    for (let others = this.#pending.get(name); others; others = this.#pending.get(name)) {
      const made = await others.catch(() => null);
      if (made !== null) return made;
    }
    const obtained = this.find(wanted, reach).then((found) => found ?? fetch());
    this.#pending.set(name, obtained);
    return obtained.finally(() => this.#pending.delete(name));
  }

  /**
   * Moves an unpacked package to the store, if its checksum is among those that `accepts` takes. It is complete on the disk before it gets
   * its name.
   * @throws Error if the package cannot be stored, or its checksum is another one
   */
  async add(
    source: string,
    wanted: WantedProvider,
    reach: string,
    accepts: (hash: string) => boolean,
  ): Promise<StoredProvider> {
    const draft = join(this.#draftDirectory, `provider-${randomBytes(8).toString('hex')}`);
    await mkdir(draft, { recursive: true, mode: 0o700 });
    try {
      await rename(source, join(draft, packageName));
      const { hash, bytes } = await sealPackage(join(draft, packageName));
      if (!accepts(hash)) throw new Error(`its package has the checksum ${hash}, which the lock file does not list`);
      const { address, version } = wanted;
      await writeFile(join(draft, factsName), JSON.stringify({ address, version, platform, hash, bytes }), {
        mode: 0o600,
      });
      await syncDraft(draft);
      const key = keyOf(wanted, hash, reach);
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await rename(draft, join(this.#directory, key)).catch((error: unknown) => {
        // Somebody else was faster, and added the same content.
        if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
      });
      await sync(this.#directory);
      this.#counts.fetches++;
      const stored = await this.#open(key, hash);
      if (stored === null) throw new Error('the package vanished from the store');
      return stored;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  async #open(key: string, hash: string): Promise<StoredProvider | null> {
    const entry = join(this.#directory, key);
    const now = new Date();
    try {
      await utimes(entry, now, now);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
    return { key, directory: join(entry, packageName), hash };
  }

  async list(): Promise<StoreEntry[]> {
    const names = await readdir(this.#directory).catch(() => []);
    const entries = names.filter((name) => keyPattern.test(name)).map((key) => this.#readEntry(key));
    const list = (await Promise.all(entries)).filter((entry) => entry !== null);
    this.#counts.bytes = list.reduce((sum, { bytes }) => sum + bytes, 0);
    return list;
  }

  async #readEntry(key: string): Promise<StoreEntry | null> {
    const path = join(this.#directory, key);
    try {
      const { bytes } = Facts.parse(JSON.parse(await readFile(join(path, factsName), 'utf8')));
      return { key, bytes, usedAt: (await stat(path)).mtimeMs };
    } catch (error) {
      // Another host of this machine removed it meanwhile.
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  /** Removes an entry. Whoever has links to its files keeps them. */
  async remove(key: string): Promise<void> {
    const gone = join(this.#draftDirectory, `removed-${randomBytes(8).toString('hex')}`);
    try {
      await rename(join(this.#directory, key), gone);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      throw error;
    }
    this.#counts.evictions++;
    await rm(gone, { recursive: true, force: true });
  }
}

function keyOf({ address, version }: WantedProvider, hash: string, reach: string): string {
  return createHash('sha256').update(canonicalJson({ address, version, platform, hash, reach })).digest('hex');
}

/** Syncs the names in a draft, and its facts. The files of the package are already on the disk. */
async function syncDraft(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true }))
    if (entry.isDirectory()) await sync(join(entry.parentPath, entry.name));
  await sync(join(directory, factsName));
  await sync(directory);
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}
