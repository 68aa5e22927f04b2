import { link, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Mount } from './bubblewrap.ts';
import type { EnclosedJob, Enclosure, JobRequest } from './enclosure.ts';
import type { Places } from './places.ts';
import { ReadySandboxes } from './ready-sandboxes.ts';
import { type SandboxShape, type SandboxWorkshop, sandboxPlaces } from './sandbox.ts';

/** A tree with more entries is mounted: linking each file takes longer than making a sandbox. */
const mostLinks = 64;

/** Runs each job in a sandbox of its own. */
export class SandboxEnclosure implements Enclosure {
  readonly isolation = 'sandbox';
  readonly #sandboxes: ReadySandboxes;

  constructor(workshop: SandboxWorkshop) {
    this.#sandboxes = new ReadySandboxes(workshop);
  }

  placesOf(): Places {
    return sandboxPlaces;
  }

  see({ target }: Mount): string {
    return target;
  }

  async start(request: JobRequest): Promise<EnclosedJob> {
    const lasting = request.mounts.filter(({ isOwn }) => !isOwn);
    const isCommon = await linkOwnMounts(request);
    const shape: SandboxShape = {
      mounts: isCommon ? lasting : request.mounts,
      hasRelay: request.relaySocket !== null,
      wantsPipes: request.wantsPipes,
      limits: request.limits,
    };
    const sandbox = await (isCommon ? this.#sandboxes.take(shape) : this.#sandboxes.make(shape));
    try {
      await sandbox.run(request);
    } catch (error) {
      if (isCommon) this.#sandboxes.release(shape);
      sandbox.discard();
      throw error;
    }
    return {
      job: sandbox.job,
      places: sandboxPlaces,
      usage: () => sandbox.usage(),
      clear: () => sandbox.clear(),
      remove: () => {
        if (isCommon) this.#sandboxes.release(shape);
        return sandbox.remove();
      },
    };
  }

  close(): void {
    this.#sandboxes.close();
  }
}

/**
 * Puts what this job alone has mounted among its files instead, so that it can use a sandbox that is ready: hard links to the
 * files, which the sandbox sees read-only, and a link to them where they would have been mounted. Answers false where that
 * cannot be done; then nothing has changed.
 */
async function linkOwnMounts({ directory, mounts }: JobRequest): Promise<boolean> {
  const own = mounts.filter(({ isOwn }) => isOwn);
  const made: string[] = [];
  for (const [index, { source, target, isWritable }] of own.entries()) {
    const path = relative(sandboxPlaces.work, target);
    const copy = join(directory, 'input', `kept-${index}`);
    made.push(copy);
    if (isWritable || path.startsWith('..') || !(await linkTree(source, copy, mostLinks))) {
      await Promise.all(made.map((entry) => rm(entry, { recursive: true, force: true })));
      return false;
    }
  }
  for (const [index, { target }] of own.entries()) {
    const place = join(directory, 'input', 'work', relative(sandboxPlaces.work, target));
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await symlink(join(sandboxPlaces.input, `kept-${index}`), place);
  }
  return true;
}

/** Makes a copy of a tree whose files are hard links. False where it has too many entries, or the file system refuses. */
async function linkTree(source: string, target: string, most: number): Promise<boolean> {
  let left = most;
  const copy = async (from: string, to: string): Promise<boolean> => {
    await mkdir(to, { recursive: true, mode: 0o700 });
    for (const entry of await readdir(from, { withFileTypes: true })) {
      if (--left < 0) return false;
      const [name, copied] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory() ? !(await copy(name, copied)) : !(await tryLink(name, copied))) return false;
    }
    return true;
  };
  return copy(source, target);
}

function tryLink(source: string, target: string): Promise<boolean> {
  return link(source, target).then(
    () => true,
    () => false,
  );
}
