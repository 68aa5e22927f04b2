import { mkdir, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { linkTree } from '../shared/files.ts';
import type { Mount } from './bubblewrap.ts';
import type { JobLauncher, JobRequest, LaunchedJob } from './job-launcher.ts';
import type { JobPaths } from './job-paths.ts';
import { type SandboxConfig, type SandboxShape, sandboxPaths } from './sandbox.ts';
import { WarmSandboxes } from './warm-sandboxes.ts';

/** Larger trees are mounted instead: linking each of their files takes longer than making a sandbox. */
const maxLinks = 64;

/** Runs each job in a sandbox of its own. */
export class SandboxLauncher implements JobLauncher {
  readonly isolation = 'sandbox';
  readonly #sandboxes: WarmSandboxes;

  constructor(config: SandboxConfig) {
    this.#sandboxes = new WarmSandboxes(config);
  }

  pathsFor(): JobPaths {
    return sandboxPaths;
  }

  mountedPath({ target }: Mount): string {
    return target;
  }

  async start(request: JobRequest): Promise<LaunchedJob> {
    const sharedMounts = request.mounts.filter(({ isOwn }) => !isOwn);
    const canUseWarm = await linkOwnMounts(request);
    const shape: SandboxShape = {
      mounts: canUseWarm ? sharedMounts : request.mounts,
      hasRelay: request.relaySocket !== null,
      wantsPipes: request.wantsPipes,
      limits: request.limits,
    };
    const sandbox = await (canUseWarm ? this.#sandboxes.take(shape) : this.#sandboxes.make(shape));
    try {
      await sandbox.run(request);
    } catch (error) {
      if (canUseWarm) this.#sandboxes.release(shape);
      sandbox.discard();
      throw error;
    }
    return {
      job: sandbox.job,
      paths: sandboxPaths,
      usage: () => sandbox.usage(),
      clear: () => sandbox.clear(),
      remove: () => {
        if (canUseWarm) this.#sandboxes.release(shape);
        return sandbox.remove();
      },
    };
  }

  close(): void {
    this.#sandboxes.close();
  }
}

/**
 * Replaces the mounts that only this job has, so that it can use a ready sandbox. The files become hard links among the job's
 * files, which the sandbox sees read-only, and a symbolic link to them stands in place of the mount. Returns false, with
 * nothing changed, if that is not possible.
 */
async function linkOwnMounts({ directory, mounts }: JobRequest): Promise<boolean> {
  const own = mounts.filter(({ isOwn }) => isOwn);
  const made: string[] = [];
  for (const [index, { source, target, isWritable }] of own.entries()) {
    const path = relative(sandboxPaths.work, target);
    const copy = join(directory, 'input', `kept-${index}`);
    made.push(copy);
    if (isWritable || path.startsWith('..') || !(await linkTree(source, copy, maxLinks))) {
      await Promise.all(made.map((entry) => rm(entry, { recursive: true, force: true })));
      return false;
    }
  }
  for (const [index, { target }] of own.entries()) {
    const linkPath = join(directory, 'input', 'work', relative(sandboxPaths.work, target));
    await mkdir(dirname(linkPath), { recursive: true, mode: 0o700 });
    await symlink(join(sandboxPaths.input, `kept-${index}`), linkPath);
  }
  return true;
}
