import { linkSync, mkdirSync, openSync, statfsSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupMaker, JobGroup } from '../groups/job-group.ts';
import { countOpenFiles, measureTree } from '../processes/process-tree.ts';
import { codeOf, reportUnexpectedError } from '../shared/errors.ts';
import { measureDirectory, writePrivateFile } from '../shared/files.ts';
import {
  encodeArguments,
  type Mount,
  programArguments,
  type SystemView,
  sandboxArguments,
  sandboxLayout,
} from './bubblewrap.ts';
import type { JobRequest, Usage } from './job-launcher.ts';
import type { JobLimits } from './job-limits.ts';
import { JobProcess } from './job-process.ts';
import { openOutputPipes } from './output-pipes.ts';
import { processLimits, writeBootstrap, writeSteps } from './script.ts';

/** Everything that is fixed when a sandbox is made. Jobs with the same shape can take the same sandbox, but each runs only one job. */
export interface SandboxShape {
  readonly mounts: readonly Mount[];
  readonly hasRelay: boolean;
  readonly wantsPipes: boolean;
  readonly limits: JobLimits;
}

/** What all sandboxes of a host have in common. */
export interface SandboxConfig {
  /** The path of the bubblewrap program. */
  readonly program: string;
  readonly view: SystemView;
  /** The directory in which each sandbox gets a directory. */
  readonly directory: string;
  /** The directory in which each sandbox gets one for its relay; on the same file system as the host's sockets. */
  readonly socketDirectory: string;
  readonly makeGroup: GroupMaker;
}

/** The file that names a sandbox's init, so that a later host can end it if this one is killed. */
export const initFile = 'init';
export const sandboxPrefix = 'sandbox-';
const sharedMemoryBytes = 64 * 1024 * 1024;
const argumentsFile = 'arguments';
const traits = { isSandboxed: true };

/** The paths that a job has inside every sandbox. */
export const sandboxPaths = {
  work: sandboxLayout.work,
  home: sandboxLayout.home,
  temporary: sandboxLayout.temporary,
  input: join(sandboxLayout.job, 'input'),
  script: join(sandboxLayout.job, 'script'),
  relay: join(sandboxLayout.relay, 'socket'),
} as const;

/** One sandbox. It is made empty, runs one job, and is removed. */
export class Sandbox {
  readonly job: JobProcess;
  readonly #shape: SandboxShape;
  readonly #directory: string;
  readonly #relayDirectory: string;
  readonly #group: JobGroup | null;

  private constructor(
    shape: SandboxShape,
    directories: readonly [string, string],
    job: JobProcess,
    group: JobGroup | null,
  ) {
    [this.#directory, this.#relayDirectory] = directories;
    this.#shape = shape;
    this.#group = group;
    this.job = job;
  }

  /** Makes a sandbox, which reports `waiting` once it can take a job. @throws AttemptFailure, or Error if the system refuses */
  static async make(config: SandboxConfig, shape: SandboxShape, name: string): Promise<Sandbox> {
    const directories = [config.directory, config.socketDirectory].map((root) => join(root, sandboxPrefix + name));
    const [directory = '', relayDirectory = ''] = directories;
    let group: JobGroup | null = null;
    try {
      await mkdir(join(directory, 'job'), { recursive: true, mode: 0o700 });
      if (shape.hasRelay) mkdirSync(relayDirectory, { mode: 0o700 });
      group = config.makeGroup(shape.limits);
      await writeFiles(config, shape, [directory, relayDirectory], group !== null);
      const pipes = shape.wantsPipes ? await openOutputPipes(directory) : null;
      const job = new JobProcess({
        program: config.program,
        arguments: programArguments,
        groupFiles: group?.processFiles ?? [],
        descriptors: [config.view.filterFile, join(directory, argumentsFile)].map((path) => openSync(path, 'r')),
        onInit: (pid, start) => nameInit(directory, `${pid} ${start}`),
        pipes,
        isSandboxed: true,
      });
      return new Sandbox(shape, [directory, relayDirectory], job, group);
    } catch (error) {
      // A machine that refuses one process may refuse many, so a failed attempt must not leave anything behind.
      await Promise.all(directories.map((path) => rm(path, { recursive: true, force: true })));
      await group?.remove();
      throw error;
    }
  }

  /** Gives the sandbox its job, which starts as soon as the sandbox is ready. */
  async run(request: JobRequest): Promise<void> {
    const jobDirectory = join(this.#directory, 'job');
    await writePrivateFile(join(jobDirectory, 'script'), writeSteps(request, sandboxPaths));
    await rename(join(request.directory, 'input'), join(jobDirectory, 'input'));
    if (request.relaySocket !== null) linkSync(request.relaySocket, join(this.#relayDirectory, 'socket'));
    this.job.proceed();
  }

  /** A control group counts everything but open files. Without one, files in memory also count as memory. */
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

  /** Ends the sandbox, and checks that neither its init nor a process in its control group is left. */
  async clear(): Promise<boolean> {
    for (let tries = 0; tries < 200; tries++) {
      this.job.kill();
      await this.job.exited;
      if (this.job.isCleared && (this.#group === null || this.#group.killAll())) return true;
      await sleep(Math.min(tries + 1, 100));
    }
    return false;
  }

  /** Removes the sandbox's directories and control group. The host's user owns everything in them. */
  async remove(): Promise<void> {
    const directories = [this.#directory, this.#relayDirectory];
    await Promise.all(directories.map((path) => rm(path, { recursive: true, force: true })));
    await this.#group?.remove();
  }

  /** Ends and removes a sandbox that no job has used. */
  discard(): void {
    void this.clear()
      .then(() => this.remove())
      .catch(reportUnexpectedError);
  }

  /** Bytes in the sandbox's own file systems, which vanish with it. */
  #usedInMemory(): number {
    const root = this.job.rootDirectory;
    if (root === null) return 0;
    return [sandboxLayout.work, sandboxLayout.temporary, '/dev/shm'].reduce(
      (sum, path) => sum + readUsed(root + path),
      0,
    );
  }
}

/** Writes the files that a sandbox is made from: bubblewrap's arguments, and the first script. */
async function writeFiles(
  { view }: SandboxConfig,
  { mounts, limits, hasRelay }: SandboxShape,
  [directory, relayDirectory]: readonly [string, string],
  hasGroup: boolean,
): Promise<void> {
  const bootstrap = join(directory, 'bootstrap');
  const own = processLimits(limits, { ...traits, hasGroup });
  await writePrivateFile(bootstrap, writeBootstrap(sandboxPaths, own, { ...traits, hasRelay }));
  const list = sandboxArguments(view, {
    mounts,
    bootstrap,
    jobDirectory: join(directory, 'job'),
    relay: hasRelay ? relayDirectory : null,
    diskBytes: limits.diskBytes,
    sharedMemoryBytes,
  });
  await writePrivateFile(join(directory, argumentsFile), encodeArguments(list));
}

/** Tolerates a missing directory: a host that ends removes directories while sandboxes are still being made. */
function nameInit(directory: string, name: string): void {
  try {
    writeFileSync(join(directory, initFile), name, { mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** Bytes used in a file system in memory, which always answers at once; 0 if the sandbox has just ended. */
function readUsed(path: string): number {
  try {
    const { blocks, bfree, bsize } = statfsSync(path);
    return (blocks - bfree) * bsize;
  } catch {
    return 0;
  }
}
