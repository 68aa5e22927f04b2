import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { measureDirectory, removeDirectory, writePrivate } from '../attempt/work-files.ts';
import type { GroupMaker } from '../groups/job-group.ts';
import { AttemptProcesses } from '../processes/attempt-processes.ts';
import { cookieVariable } from '../processes/process-table.ts';
import { measureTree } from '../processes/process-tree.ts';
import type { Mount } from './bubblewrap.ts';
import type { EnclosedJob, Enclosure, JobRequest } from './enclosure.ts';
import { Job } from './job.ts';
import { type OutputPipes, openOutputPipes } from './output-pipes.ts';
import type { Places } from './places.ts';
import { processLimits, writePreparation, writeSteps } from './script.ts';

/** Runs jobs as ordinary processes of the host's user: for machines that cannot contain them. */
export class OpenEnclosure implements Enclosure {
  readonly isolation = 'none';
  readonly #makeGroup: GroupMaker;

  constructor(makeGroup: GroupMaker) {
    this.#makeGroup = makeGroup;
  }

  placesOf(directory: string): Places {
    const place = (name: string) => join(directory, name);
    const places = { work: place('work'), home: place('home'), temporary: place('tmp') };
    return { ...places, input: place('input'), script: place('script'), relay: place('relay') };
  }

  see({ source }: Mount): string {
    return source;
  }

  async start(request: JobRequest): Promise<EnclosedJob> {
    const { directory, environment } = request;
    const places = this.placesOf(directory);
    await linkMounts(request.mounts, places);
    const pipes: OutputPipes | null = request.wantsPipes ? await openOutputPipes(directory) : null;
    const preparation = join(directory, 'preparation');
    const group = this.#makeGroup(request.limits);
    const limits = processLimits(request.limits, { isContained: false, hasGroup: group !== null });
    await writePrivate(preparation, writePreparation(places, limits, { isContained: false, hasRelay: false }));
    await writePrivate(places.script, writeSteps(request, places));
    const job = new Job({
      program: '/bin/sh',
      arguments: [preparation],
      groupFiles: group?.processFiles ?? [],
      descriptors: [],
      pipes,
      isContained: false,
    });
    job.proceed();
    const cookie = environment[cookieVariable] ?? '';
    const processes = new AttemptProcesses({ cookie, directory, root: job.pid }, group);
    return {
      job,
      places,
      usage: async () => {
        const usage = measureTree(job.pid);
        return {
          ...usage,
          processes: processes.list().length,
          diskBytes: await measureDirectory(directory),
          cpuSeconds: group?.cpuSeconds ?? usage.cpuSeconds,
          memoryBytes: group === null ? usage.memoryBytes : 0,
          ranOutOfMemory: group?.ranOutOfMemory ?? false,
          ranOutOfProcesses: group?.ranOutOfProcesses ?? false,
        };
      },
      clear: async () => {
        job.kill();
        const isClean = await processes.killAll();
        await job.exited;
        return isClean;
      },
      remove: async () => {
        await Promise.all([places.work, places.home, places.temporary].map(removeDirectory));
        await group?.remove();
      },
    };
  }

  close(): void {
    // Nothing is kept ready.
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
