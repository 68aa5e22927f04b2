import { linkSync, mkdirSync, openSync, statfsSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, reportUnforeseen } from '../attempt/attempt-error.ts';
import { measureDirectory, writePrivate } from '../attempt/work-files.ts';
import type { GroupMaker, JobGroup } from '../groups/job-group.ts';
import { countOpenFiles, measureTree } from '../processes/process-tree.ts';
import {
  encodeArguments,
  inside,
  type Mount,
  programArguments,
  type SystemView,
  sandboxArguments,
} from './bubblewrap.ts';
import type { JobRequest, Usage } from './enclosure.ts';
import type { EnclosureLimits } from './enclosure-limits.ts';
import { Job } from './job.ts';
import { openOutputPipes } from './output-pipes.ts';
import { processLimits, writePreparation, writeSteps } from './script.ts';

/** What is decided when a sandbox is made. Two jobs with the same shape can use the same sandbox, though only one ever does. */
export interface SandboxShape {
  readonly mounts: readonly Mount[];
  readonly hasRelay: boolean;
  readonly wantsPipes: boolean;
  readonly limits: EnclosureLimits;
}

/** What all sandboxes of a host have in common. */
export interface SandboxWorkshop {
  /** The path of bubblewrap. */
  readonly program: string;
  readonly view: SystemView;
  /** Where each sandbox gets a directory. */
  readonly directory: string;
  /** Where each gets a directory for its relay, on the file system on which the host's sockets are. */
  readonly socketDirectory: string;
  readonly makeGroup: GroupMaker;
}

/** Names the init of a sandbox, for a host that finds it after this one was killed. */
export const initFile = 'init';
export const sandboxPrefix = 'sandbox-';
const sharedMemoryBytes = 64 * 1024 * 1024;
const argumentsFile = 'arguments';
const traits = { isContained: true };

/** Where things lie inside every sandbox. */
export const sandboxPlaces = {
  work: inside.work,
  home: inside.home,
  temporary: inside.temporary,
  input: join(inside.place, 'input'),
  script: join(inside.place, 'script'),
  relay: join(inside.relay, 'socket'),
} as const;

/** One sandbox. It is made empty, runs one job, and is removed. */
export class Sandbox {
  readonly job: Job;
  readonly #shape: SandboxShape;
  readonly #directory: string;
  readonly #relayDirectory: string;
  readonly #group: JobGroup | null;

  private constructor(shape: SandboxShape, directories: readonly [string, string], job: Job, group: JobGroup | null) {
    [this.#directory, this.#relayDirectory] = directories;
    this.#shape = shape;
    this.#group = group;
    this.job = job;
  }

  /** Makes one. It says `waiting` once a job can be given to it. @throws AttemptFailure, or Error where the system refuses */
  static async make(workshop: SandboxWorkshop, shape: SandboxShape, name: string): Promise<Sandbox> {
    const directories = [workshop.directory, workshop.socketDirectory].map((root) => join(root, sandboxPrefix + name));
    const [directory = '', relayDirectory = ''] = directories;
    let group: JobGroup | null = null;
    try {
      await mkdir(join(directory, 'place'), { recursive: true, mode: 0o700 });
      if (shape.hasRelay) mkdirSync(relayDirectory, { mode: 0o700 });
      group = workshop.makeGroup(shape.limits);
      await writeFiles(workshop, shape, [directory, relayDirectory], group !== null);
      const pipes = shape.wantsPipes ? await openOutputPipes(directory) : null;
      const job = new Job({
        program: workshop.program,
        arguments: programArguments,
        groupFiles: group?.processFiles ?? [],
        descriptors: [workshop.view.filterFile, join(directory, argumentsFile)].map((path) => openSync(path, 'r')),
        onInit: (pid, start) => nameInit(directory, `${pid} ${start}`),
        pipes,
        isContained: true,
      });
      return new Sandbox(shape, [directory, relayDirectory], job, group);
    } catch (error) {
      // A machine that refuses one process may refuse many: none of them may leave anything.
      await Promise.all(directories.map((path) => rm(path, { recursive: true, force: true })));
      await group?.remove();
      throw error;
    }
  }

  /** Gives it its job, which starts at once, or as soon as the sandbox is ready. */
  async run(request: JobRequest): Promise<void> {
    const place = join(this.#directory, 'place');
    await writePrivate(join(place, 'script'), writeSteps(request, sandboxPlaces));
    await rename(join(request.directory, 'input'), join(place, 'input'));
    if (request.relaySocket !== null) linkSync(request.relaySocket, join(this.#relayDirectory, 'socket'));
    this.job.proceed();
  }

  /** A control group knows all but the files that its processes have open. Without one, files in memory count as memory too. */
  async usage(): Promise<Usage> {
    const inMemory = this.#usedInMemory();
    const writable = this.#shape.mounts.filter(({ isWritable }) => isWritable);
    const onDisk = await Promise.all(writable.map(({ source }) => measureDirectory(source)));
    const diskBytes = onDisk.reduce((sum, bytes) => sum + bytes, inMemory);
    const group = this.#group;
    if (group !== null) {
      const pids = group.listProcesses();
      const { cpuSeconds, ranOutOfMemory, ranOutOfProcesses } = group;
      const counted = { processes: pids.length, openFiles: countOpenFiles(pids), memoryBytes: 0 };
      return { ...counted, cpuSeconds, ranOutOfMemory, ranOutOfProcesses, diskBytes };
    }
    const none = { processes: 0, memoryBytes: 0, cpuSeconds: 0, openFiles: 0 };
    const tree = this.job.hasExited ? none : measureTree(this.job.pid);
    const memoryBytes = tree.memoryBytes + inMemory;
    return { ...tree, memoryBytes, diskBytes, ranOutOfMemory: false, ranOutOfProcesses: false };
  }

  /** Ends it, and looks whether nothing of it lives: neither its init nor anything in its control group. */
  async clear(): Promise<boolean> {
    for (let tries = 0; tries < 200; tries++) {
      this.job.kill();
      await this.job.exited;
      if (this.job.isCleared && (this.#group === null || this.#group.killAll())) return true;
      await sleep(Math.min(tries + 1, 100));
    }
    return false;
  }

  /** Removes its directories and its control group. Everything in them belongs to the host's user. */
  async remove(): Promise<void> {
    const directories = [this.#directory, this.#relayDirectory];
    await Promise.all(directories.map((path) => rm(path, { recursive: true, force: true })));
    await this.#group?.remove();
  }

  /** Ends and removes one that no job has used. */
  discard(): void {
    void this.clear()
      .then(() => this.remove())
      .catch(reportUnforeseen);
  }

  /** What fills the sandbox's own file systems; they vanish with it. */
  #usedInMemory(): number {
    const root = this.job.rootDirectory;
    if (root === null) return 0;
    return [inside.work, inside.temporary, '/dev/shm'].reduce((sum, path) => sum + readUsed(root + path), 0);
  }
}

/** Writes what the sandbox is made with: bubblewrap's arguments, and the first half of the script. */
async function writeFiles(
  { view }: SandboxWorkshop,
  { mounts, limits, hasRelay }: SandboxShape,
  [directory, relayDirectory]: readonly [string, string],
  hasGroup: boolean,
): Promise<void> {
  const preparation = join(directory, 'preparation');
  const own = processLimits(limits, { ...traits, hasGroup });
  await writePrivate(preparation, writePreparation(sandboxPlaces, own, { ...traits, hasRelay }));
  const list = sandboxArguments(view, {
    ...{ mounts, preparation, place: join(directory, 'place'), relay: hasRelay ? relayDirectory : null },
    ...{ diskBytes: limits.diskBytes, sharedMemoryBytes },
  });
  await writePrivate(join(directory, argumentsFile), encodeArguments(list));
}

/** The directory may be gone: a host that ends removes it, whatever is still being made. */
function nameInit(directory: string, name: string): void {
  try {
    writeFileSync(join(directory, initFile), name, { mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** Bytes that a file system in memory holds, which never takes time to say; 0 where the sandbox has just ended. */
function readUsed(path: string): number {
  try {
    const { blocks, bfree, bsize } = statfsSync(path);
    return (blocks - bfree) * bsize;
  } catch {
    return 0;
  }
}
