import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import type { KeyRing, SealContext } from '#domain/shared/secrets.ts';

/** A draft of this age was left by a worker that died while writing it. Its tool was never told that the state is stored. */
const abandonedDraftMs = 10 * 60_000;
const context = (name: string): SealContext => ['state-spool', name];

/** The file name of a state that is set aside. */
export const refusedName = (name: string): string => `${name}.refused`;

/** The files of the spool: one for each state, sealed. Workers may share the directory, so any file may disappear before it is read. */
export class SpoolDirectory {
  readonly #path: string;
  readonly #keyRing: KeyRing;

  constructor(path: string, keyRing: KeyRing) {
    this.#path = path;
    this.#keyRing = keyRing;
  }

  /** Resolves to the name of its file once a state is durable on this machine. The names of an attempt's states sort by their writes. */
  async write(state: AttemptState): Promise<string> {
    const name = `${state.attemptId}.${String(state.write).padStart(6, '0')}`;
    await this.#create();
    const sealed = this.#keyRing.sealJson(context(name), { ...state, content: state.content.toString('base64') });
    const path = this.#pathOf(name);
    const file = await open(`${path}.new`, 'w', 0o600);
    try {
      await file.writeFile(sealed);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.new`, path);
    const directory = await open(this.#path, 'r');
    await directory.sync().finally(() => directory.close());
    return name;
  }

  /** Reads a state; undefined if its file is gone. @throws Error if it cannot be read or opened */
  async read(name: string): Promise<AttemptState | undefined> {
    const sealed = await readFile(this.#pathOf(name)).catch(ignoreMissing);
    if (!sealed) return undefined;
    const state = this.#keyRing.openJson<Omit<AttemptState, 'content'> & { content: string }>(context(name), sealed);
    return { ...state, content: Buffer.from(state.content, 'base64') };
  }

  /** The names of the states, sorted, with the attempts that wrote them. */
  async list(): Promise<{ name: string; attemptId: string }[]> {
    await this.#create();
    const names = (await readdir(this.#path)).sort();
    return names.flatMap((name) => {
      const [, attemptId] = /^([0-9a-f-]{36})\.\d{6}$/.exec(name) ?? [];
      return attemptId === undefined ? [] : [{ name, attemptId }];
    });
  }

  /** Removes the drafts of workers that died while they wrote a state. */
  async removeOldDrafts(): Promise<void> {
    await this.#create();
    const drafts = (await readdir(this.#path)).filter((name) => name.endsWith('.new'));
    for (const name of drafts) {
      const path = this.#pathOf(name);
      const written = await stat(path).catch(() => null);
      if (written && Date.now() - written.mtimeMs > abandonedDraftMs) await rm(path, { force: true });
    }
  }

  remove(name: string): Promise<void> {
    return rm(this.#pathOf(name), { force: true });
  }

  /** Renames the file of a state, so that it is kept for people to examine, and never saved. */
  async setAside(name: string): Promise<void> {
    await rename(this.#pathOf(name), this.#pathOf(refusedName(name))).catch(ignoreMissing);
  }

  async #create(): Promise<void> {
    await mkdir(this.#path, { recursive: true, mode: 0o700 });
  }

  #pathOf(name: string): string {
    return join(this.#path, name);
  }
}

/** Ignores a missing file: another worker has handled it meanwhile. */
function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
