import { openSync, writeFileSync } from 'node:fs';
import { mkdir, statfs, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../host/environment.ts';
import { measureDirectory, removeDirectory, writePrivate } from '../host/work-files.ts';
import { AttemptProcesses } from './attempt-processes.ts';
import { inside, type Mount, type SystemView, sandboxArguments } from './bubblewrap.ts';
import type { AttemptGroup } from './cgroups.ts';
import { Job } from './job.ts';
import type { OutputPipes } from './output-pipes.ts';
import { openOutputPipes } from './output-pipes.ts';
import type { Places } from './places.ts';
import { cookieVariable } from './process-table.ts';
import { countOpenFiles, measureTree } from './process-tree.ts';
import { type ProcessLimits, type Step, writeScript } from './script.ts';

export interface JobRequest {
  /** The job's own directory on the host, with `input/work` and whatever else lies in `input`. */
  readonly directory: string;
  readonly environment: Environment;
  readonly steps: readonly Step[];
  /** Where the steps start, as they see it. */
  readonly startIn: string;
  readonly mounts: readonly Mount[];
  /** The host's socket that a relay leads to; null: the job reaches nothing. */
  readonly relaySocket: string | null;
  /** Gives programs pipes instead of sockets to print into, which scripts may open by name. */
  readonly wantsPipes: boolean;
  readonly limits: EnclosureLimits;
  readonly group: AttemptGroup | null;
}

export interface EnclosureLimits {
  readonly diskBytes: number;
  readonly processes: number;
  readonly memoryBytes: number;
  readonly openFiles: number;
  readonly cpuSeconds: number;
}

export interface Usage {
  readonly processes: number;
  /** 0 where a control group holds it. */
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  readonly openFiles: number;
  readonly diskBytes: number;
}

/** A job that runs, and what has to be known of the place in which it does. */
export interface EnclosedJob {
  readonly job: Job;
  readonly places: Places;
  usage(): Promise<Usage>;
  /** Ends everything that still lives. False where something could not be ended. */
  clear(): Promise<boolean>;
}

export interface Enclosure {
  readonly isolation: 'sandbox' | 'none';
  /** Where a job with this directory will find its things. */
  placesOf(directory: string): Places;
  /** The path by which a job sees something of the host: where it is mounted, or where it is. */
  see(mount: Mount): string;
  start(request: JobRequest): Promise<EnclosedJob>;
}

/** Names the init of a job's sandbox, for a host that finds it after this one was killed. */
export const initFile = 'init';
const sharedMemoryBytes = 64 * 1024 * 1024;
/** What a process may map beside what it uses. */
const mostNoise = 64 * 1024 * 1024;

/** Runs each job in a sandbox of its own. */
export class SandboxEnclosure implements Enclosure {
  readonly isolation = 'sandbox';
  readonly #program: string;
  readonly #view: SystemView;

  constructor(program: string, view: SystemView) {
    this.#program = program;
    this.#view = view;
  }

  placesOf(): Places {
    const { work, home, temporary, input, relay } = inside;
    return { work, home, temporary, input, relay };
  }

  see({ target }: Mount): string {
    return target;
  }

  async start(request: JobRequest): Promise<EnclosedJob> {
    const { directory, relaySocket, limits, mounts } = request;
    const places = this.placesOf();
    const pipes = request.wantsPipes ? await openOutputPipes(directory) : null;
    const script = await writeJobScript(request, places, true);
    const options = { mounts, diskBytes: limits.diskBytes, sharedMemoryBytes, relay: relaySocket };
    const job = new Job({
      program: this.#program,
      arguments: sandboxArguments(this.#view, { ...options, input: join(directory, 'input'), script }),
      groupFiles: request.group?.processFiles ?? [],
      descriptors: [openSync(this.#view.filterFile, 'r')],
      onInit: (pid, start) => writeFileSync(join(directory, initFile), `${pid} ${start}`, { mode: 0o600 }),
      pipes,
      isContained: true,
    });
    return {
      job,
      places,
      usage: () => measureSandbox(job, request),
      clear: () => clearSandbox(job, request.group),
    };
  }
}

/** Ends a sandbox, and looks whether nothing of it lives: neither its init nor anything in its control group. */
async function clearSandbox(job: Job, group: AttemptGroup | null): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    job.kill();
    await job.exited;
    if (job.isCleared && (group === null || group.killAll())) return true;
    await sleep(Math.min(5 * (tries + 1), 100));
  }
  return false;
}

/** A control group knows all but the files that its processes have open. Without one, files in memory count as memory too. */
async function measureSandbox(job: Job, { group, mounts }: JobRequest): Promise<Usage> {
  const inMemory = await usedBySandbox(job);
  const writable = mounts.filter(({ isWritable }) => isWritable);
  const onDisk = await Promise.all(writable.map(({ source }) => measureDirectory(source)));
  const diskBytes = onDisk.reduce((sum, bytes) => sum + bytes, inMemory);
  if (job.hasExited) return { processes: 0, memoryBytes: 0, cpuSeconds: 0, openFiles: 0, diskBytes };
  if (group === null) {
    const usage = measureTree(job.pid);
    return { ...usage, memoryBytes: usage.memoryBytes + inMemory, diskBytes };
  }
  const pids = group.listProcesses();
  const openFiles = countOpenFiles(pids);
  return { processes: pids.length, memoryBytes: 0, cpuSeconds: group.cpuSeconds, openFiles, diskBytes };
}

/** What fills the sandbox's own file systems; they vanish with it. */
async function usedBySandbox(job: Job): Promise<number> {
  const root = job.rootDirectory;
  if (root === null) return 0;
  const used = async (path: string) => {
    const stats = await statfs(root + path).catch(() => null);
    return stats === null ? 0 : (stats.blocks - stats.bfree) * stats.bsize;
  };
  const [work, temporary, memory] = await Promise.all([used(inside.work), used(inside.temporary), used('/dev/shm')]);
  return work + temporary + memory;
}

/** Runs jobs as ordinary processes of the host's user: for machines that cannot contain them. */
export class OpenEnclosure implements Enclosure {
  readonly isolation = 'none';

  placesOf(directory: string): Places {
    const place = (name: string) => join(directory, name);
    const places = { work: place('work'), home: place('home'), temporary: place('tmp') };
    return { ...places, input: place('input'), relay: place('relay') };
  }

  see({ source }: Mount): string {
    return source;
  }

  async start(request: JobRequest): Promise<EnclosedJob> {
    const { directory, environment } = request;
    const places = this.placesOf(directory);
    await linkMounts(request.mounts, places);
    const pipes: OutputPipes | null = request.wantsPipes ? await openOutputPipes(directory) : null;
    const script = await writeJobScript({ ...request, relaySocket: null }, places, false);
    const job = new Job({
      program: '/bin/sh',
      arguments: [script],
      groupFiles: request.group?.processFiles ?? [],
      ...{ descriptors: [], pipes, isContained: false },
    });
    const cookie = environment[cookieVariable] ?? '';
    const processes = new AttemptProcesses({ cookie, directory, root: job.pid }, request.group);
    return {
      job,
      places,
      usage: async () => ({
        ...measureTree(job.pid),
        processes: processes.list().length,
        diskBytes: await measureDirectory(directory),
      }),
      clear: async () => {
        job.kill();
        const isClean = await processes.killAll();
        await job.exited;
        await Promise.all([places.work, places.home, places.temporary].map(removeDirectory));
        return isClean;
      },
    };
  }
}

/** Without mounts, a link in the work directory leads to what a sandbox would have there. */
async function linkMounts(mounts: readonly Mount[], { work, input }: Places): Promise<void> {
  for (const { source, target } of mounts) {
    const path = relative(work, target);
    if (path.startsWith('..')) continue;
    const link = join(input, 'work', path);
    await mkdir(dirname(link), { recursive: true, mode: 0o700 });
    await symlink(source, link);
  }
}

/** Outside of a sandbox the kernel counts all processes of the user together, so that no limit of an attempt can be set. */
async function writeJobScript(request: JobRequest, places: Places, isContained: boolean): Promise<string> {
  const { directory, steps, environment, limits, group, startIn, relaySocket } = request;
  const path = join(directory, 'script');
  const own: ProcessLimits = {
    openFiles: limits.openFiles,
    fileBytes: limits.diskBytes,
    // Each a little above the limit, so that a look finds it passed.
    processes: isContained && group === null ? limits.processes + 64 : null,
    memoryBytes: group === null ? limits.memoryBytes * 1.25 + mostNoise : null,
    cpuSeconds: limits.cpuSeconds * 1.25 + 5,
  };
  const where = { ...places, input: join(places.input, 'work'), directory: startIn };
  const relay = relaySocket === null ? null : places.relay;
  await writePrivate(path, writeScript(steps, environment, { ...where, relay }, own, isContained));
  return path;
}
