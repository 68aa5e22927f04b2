import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GroupRoot, killProcesses, removeGroup, writeIfPresent } from './delegation.ts';

interface GroupLimits {
  readonly memoryBytes: number;
  readonly processes: number;
  /** Processors that the job may use at the same time; may be a fraction. */
  readonly cores: number;
}

/** Less than the default weight of 1024, so that the service has priority over jobs. */
const weight = 256;
const cpuPeriodMicroseconds = 100_000;

/** Makes a control group for a job; null if the worker cannot make groups on this machine. */
export type GroupMaker = (limits: Pick<GroupLimits, 'memoryBytes' | 'processes'>) => JobGroup | null;

/** The control group of one job. It contains every process that the job has started. */
export class JobGroup {
  /** A process that writes 0 into each of these files joins the group. */
  readonly processFiles: readonly string[];
  readonly #version: 1 | 2;
  readonly #directories: Readonly<Record<string, string>>;

  private constructor(version: 1 | 2, directories: Readonly<Record<string, string>>) {
    this.#version = version;
    this.#directories = directories;
    this.processFiles = Object.values(directories).map((directory) => join(directory, 'cgroup.procs'));
  }

  /** @throws Error if the kernel refuses */
  static make(root: GroupRoot, name: string, limits: GroupLimits): JobGroup {
    const entries = Object.entries(root.directories).map(([controller, parent]) => [controller, join(parent, name)]);
    const directories: Record<string, string> = Object.fromEntries(entries);
    try {
      for (const directory of Object.values(directories)) mkdirSync(directory);
      const group = new JobGroup(root.version, directories);
      group.#limit(limits);
      return group;
    } catch (error) {
      Object.values(directories).forEach(removeGroup);
      throw error;
    }
  }

  #limit({ memoryBytes, processes, cores }: GroupLimits): void {
    const quota = String(Math.max(1_000, Math.round(cores * cpuPeriodMicroseconds)));
    if (this.#version === 2) {
      this.#write('all', 'memory.max', String(memoryBytes));
      this.#write('all', 'memory.swap.max', '0');
      this.#write('all', 'pids.max', String(processes));
      this.#write('all', 'cpu.max', `${quota} ${cpuPeriodMicroseconds}`);
      this.#write('all', 'cpu.weight', String(Math.max(1, Math.round((weight / 1024) * 100))));
      return;
    }
    this.#write('memory', 'memory.limit_in_bytes', String(memoryBytes));
    this.#write('memory', 'memory.memsw.limit_in_bytes', String(memoryBytes));
    this.#write('pids', 'pids.max', String(processes));
    this.#write('cpu', 'cpu.cfs_period_us', String(cpuPeriodMicroseconds));
    this.#write('cpu', 'cpu.cfs_quota_us', quota);
    this.#write('cpu', 'cpu.shares', String(weight));
  }

  #write(controller: string, file: string, value: string): void {
    writeIfPresent(join(this.#directories[controller] ?? '', file), value);
  }

  #read(controller: string, file: string): string {
    try {
      return readFileSync(join(this.#directories[controller] ?? '', file), 'utf8');
    } catch {
      return '';
    }
  }

  /** Lists its processes by their ids on the host. */
  listProcesses(): number[] {
    const text = this.#read(this.#version === 2 ? 'all' : 'pids', 'cgroup.procs');
    return text.split('\n').filter(Boolean).map(Number);
  }

  /** Kills its processes. Returns whether there was none left. */
  killAll(): boolean {
    const pids = this.listProcesses();
    killProcesses(pids);
    return pids.length === 0;
  }

  /** Whether the kernel killed one of its processes because memory ran out. */
  get ranOutOfMemory(): boolean {
    const text = this.#version === 2 ? this.#read('all', 'memory.events') : this.#read('memory', 'memory.oom_control');
    return /^oom_kill [1-9]/m.test(text);
  }

  /** Whether a process could not be started because of the limit. */
  get ranOutOfProcesses(): boolean {
    return /^max [1-9]/m.test(this.#read(this.#version === 2 ? 'all' : 'pids', 'pids.events'));
  }

  /** Processor time that all its processes have used, in seconds. */
  get cpuSeconds(): number {
    if (this.#version === 1) return Number(this.#read('cpuacct', 'cpuacct.usage') || 0) / 1e9;
    return Number(/^usage_usec (\d+)/m.exec(this.#read('all', 'cpu.stat'))?.[1] ?? 0) / 1e6;
  }

  /** Removes the group. It retries, because the kernel releases the last process with a delay. */
  async remove(): Promise<void> {
    for (let tries = 0; tries < 50; tries++) {
      if (Object.values(this.#directories).map(removeGroup).every(Boolean)) return;
      await new Promise((resolve) => setTimeout(resolve, 2 * (tries + 1)));
    }
  }
}
