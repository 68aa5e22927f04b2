import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { GroupMaker, JobGroup } from '../groups/job-group.ts';
import { AttemptProcesses } from '../processes/attempt-processes.ts';
import { cookieVariable } from '../processes/process-table.ts';
import { measureTree } from '../processes/process-tree.ts';
import { measureDirectory, removeDirectory, writePrivateFile } from '../shared/files.ts';
import type { Mount } from './bubblewrap.ts';
import type { JobLauncher, JobRequest, LaunchedJob } from './job-launcher.ts';
import type { JobPaths } from './job-paths.ts';
import { JobProcess } from './job-process.ts';
import { type OutputPipes, openOutputPipes } from './output-pipes.ts';
import { processLimits, writeBootstrap, writeSteps } from './script.ts';

/** Runs jobs as ordinary processes of the host's user, for machines without sandboxes. */
export class UnsandboxedLauncher implements JobLauncher {
  readonly isolation = 'none';
  readonly #makeGroup: GroupMaker;

  constructor(makeGroup: GroupMaker) {
    this.#makeGroup = makeGroup;
  }

  pathsFor(directory: string): JobPaths {
    const pathOf = (name: string) => join(directory, name);
    const paths = { work: pathOf('work'), home: pathOf('home'), temporary: pathOf('tmp') };
    return { ...paths, input: pathOf('input'), script: pathOf('script'), relay: pathOf('relay') };
  }

  mountedPath({ source }: Mount): string {
    return source;
  }

  async start(request: JobRequest): Promise<LaunchedJob> {
    const { directory, environment } = request;
    const paths = this.pathsFor(directory);
    await linkMounts(request.mounts, paths);
    const pipes: OutputPipes | null = request.wantsPipes ? await openOutputPipes(directory) : null;
    const bootstrap = join(directory, 'bootstrap');
    const group = this.#makeGroup(request.limits);
    const limits = processLimits(request.limits, { isSandboxed: false, hasGroup: group !== null });
    await writePrivateFile(bootstrap, writeBootstrap(paths, limits, { isSandboxed: false, hasRelay: false }));
    await writePrivateFile(paths.script, writeSteps(request, paths));
    const job = new JobProcess({
      program: '/bin/sh',
      arguments: [bootstrap],
      groupFiles: group?.processFiles ?? [],
      descriptors: [],
      pipes,
      isSandboxed: false,
    });
    job.proceed();
    const processes = new AttemptProcesses(
      { cookie: environment[cookieVariable] ?? '', directory, root: job.pid },
      group,
    );
    return {
      job,
      paths,
      usage: async () => ({
        ...measureProcesses(job.pid, group),
        processes: processes.list().length,
        diskBytes: await measureDirectory(directory),
      }),
      clear: async () => {
        job.kill();
        const isClean = await processes.killAll();
        await job.exited;
        return isClean;
      },
      remove: () => removeJob(paths, group),
    };
  }

  close(): void {
    // Nothing is kept ready.
  }
}

/** The resources that the processes of a job have used. A control group counts processor time, and enforces the memory limit itself. */
function measureProcesses(pid: number, group: JobGroup | null) {
  const usage = measureTree(pid);
  return {
    ...usage,
    cpuSeconds: group?.cpuSeconds ?? usage.cpuSeconds,
    memoryBytes: group === null ? usage.memoryBytes : 0,
    ranOutOfMemory: group?.ranOutOfMemory ?? false,
    ranOutOfProcesses: group?.ranOutOfProcesses ?? false,
  };
}

async function removeJob({ work, home, temporary }: JobPaths, group: JobGroup | null): Promise<void> {
  await Promise.all([work, home, temporary].map(removeDirectory));
  await group?.remove();
}

/** Replaces mounts in the work directory by links to their sources. */
async function linkMounts(mounts: readonly Mount[], { work, input }: JobPaths): Promise<void> {
  for (const { source, target } of mounts) {
    const path = relative(work, target);
    if (path.startsWith('..')) continue;
    const link = join(input, 'work', path);
    await mkdir(dirname(link), { recursive: true, mode: 0o700 });
    await symlink(source, link);
  }
}
