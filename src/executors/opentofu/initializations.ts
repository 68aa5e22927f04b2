import { createHash, createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { codeOf, reportUnforeseen } from '../attempt/attempt-error.ts';

/**
 * What `init` made, kept for the next runs of the same template version with the same tool: providers, modules and the
 * tool's record of its backend. Only the tool writes it, in a sandbox in which no template code runs, and every other
 * sandbox sees it read-only.
 */
export interface Initialization {
  /** The directory `.terraform`, on the host. */
  readonly data: string;
  /** The dependency lock file that belongs to it; null without providers. */
  readonly lock: Buffer | null;
  /** Digest of the modules, which a plan's digest covers. */
  readonly modules: string;
}

const mostKept = 64;
/** Younger ones may be in use by another host of this machine. */
const youngMs = 3600_000;
const lockName = 'lock.hcl';
const factsName = 'facts.json';

export class Initializations {
  readonly #directory: string;
  readonly #drafts: string;
  readonly #underWay = new Map<string, Promise<Initialization>>();
  readonly #used = new Map<string, number>();
  #secret: Buffer | null = null;

  /** @param drafts is the host's own: what a killed host was making goes with its directory */
  constructor(directory: string, drafts: string) {
    this.#directory = directory;
    this.#drafts = drafts;
  }

  /**
   * The name under which something is kept. Credentials may decide what `init` can fetch, so what one environment fetched is
   * never given to another: their variables are part of the name, by a keyed digest.
   */
  keyOf(facts: object, secrets: object): string {
    const keyed = createHmac('sha256', this.#readSecret()).update(canonicalJson(secrets)).digest('hex');
    return createHash('sha256')
      .update(canonicalJson([facts, keyed]))
      .digest('hex');
  }

  /** What is kept under a key, or what `make` makes in the directory that it is given; attempts at the same time share it. */
  async obtain(
    key: string,
    make: (data: string) => Promise<{ lock: Buffer | null; modules: string }>,
  ): Promise<Initialization> {
    this.#used.set(key, (this.#used.get(key) ?? 0) + 1);
    try {
      return (await this.#share(key)) ?? (await this.#lead(key, make));
    } catch (error) {
      this.release(key);
      throw error;
    }
  }

  /** What another attempt is making. Where that fails or is canceled, null: this attempt tries by itself, and logs why. */
  async #share(key: string): Promise<Initialization | null> {
    for (let others = this.#underWay.get(key); others; others = this.#underWay.get(key)) {
      const made = await others.catch(() => null);
      if (made !== null) return made;
    }
    return null;
  }

  async #lead(
    key: string,
    make: (data: string) => Promise<{ lock: Buffer | null; modules: string }>,
  ): Promise<Initialization> {
    const obtained = this.#findOrMake(key, make);
    this.#underWay.set(key, obtained);
    return obtained.finally(() => this.#underWay.delete(key));
  }

  async #findOrMake(
    key: string,
    make: (data: string) => Promise<{ lock: Buffer | null; modules: string }>,
  ): Promise<Initialization> {
    return (await this.#find(key)) ?? this.#make(key, make);
  }

  /** What is kept under a key; null where nothing is. */
  async find(key: string): Promise<Initialization | null> {
    const found = await this.#find(key);
    if (found !== null) this.#used.set(key, (this.#used.get(key) ?? 0) + 1);
    return found;
  }

  /** Says that an attempt no longer uses what it obtained. */
  release(key: string): void {
    const uses = (this.#used.get(key) ?? 1) - 1;
    if (uses > 0) this.#used.set(key, uses);
    else this.#used.delete(key);
  }

  async #find(key: string): Promise<Initialization | null> {
    const place = join(this.#directory, key);
    const facts = await readFile(join(place, factsName), 'utf8').catch(() => null);
    if (facts === null) return null;
    const lock = await readFile(join(place, lockName)).catch(() => null);
    const now = new Date();
    await utimes(place, now, now).catch(() => undefined);
    return { data: join(place, 'data'), lock, modules: readModules(facts) };
  }

  async #make(
    key: string,
    make: (data: string) => Promise<{ lock: Buffer | null; modules: string }>,
  ): Promise<Initialization> {
    const draft = join(this.#drafts, `init-${randomBytes(8).toString('hex')}`);
    const place = join(this.#directory, key);
    await mkdir(join(draft, 'data'), { recursive: true, mode: 0o700 });
    try {
      const { lock, modules } = await make(join(draft, 'data'));
      if (lock !== null) await writeFile(join(draft, lockName), lock, { mode: 0o600 });
      await writeFile(join(draft, factsName), JSON.stringify({ modules }), { mode: 0o600 });
      await rename(draft, place).catch(async (error: unknown) => {
        // Another host of this machine was quicker; what it kept under this name is as good.
        if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
        await rm(draft, { recursive: true, force: true });
      });
      void this.#forgetOldest().catch(reportUnforeseen);
      return { data: join(place, 'data'), lock, modules };
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
  }

  /** Keeps those that were used last. */
  async #forgetOldest(): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => /^[0-9a-f]{64}$/.test(name));
    const unused = names.filter((name) => !this.#used.has(name) && !this.#underWay.has(name));
    const aged = await Promise.all(
      unused.map(async (name) => ({ name, at: (await stat(join(this.#directory, name))).mtimeMs })),
    );
    const tooMany = Math.max(0, names.length - mostKept);
    const old = aged.filter(({ at }) => at < Date.now() - youngMs).sort((a, b) => a.at - b.at);
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
