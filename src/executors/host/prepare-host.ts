import { randomBytes } from 'node:crypto';
import { accessSync, constants, createReadStream, createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { removeLeftGitDirectories } from '#domain/sources/git/directories.ts';
import { killAndRemoveGroups } from '../groups/delegation.ts';
import { type HostSettings, HostSettingsError } from '../protocol/host-settings.ts';
import { buildSystemView, etcFiles, type SystemView } from '../sandbox/bubblewrap.ts';
import { SandboxLauncher } from '../sandbox/sandbox-launcher.ts';
import { buildSeccompFilter } from '../sandbox/seccomp.ts';
import { codeOf, messageOf, reportUnexpectedError } from '../shared/errors.ts';
import { claimDirectory, removeOrphanedHosts } from './host-directories.ts';
import { HostResources } from './host-resources.ts';

/** Paths of unix sockets have at most 107 bytes; the names of the sockets themselves are short. */
const maxDirectoryLength = 90;
const trialLimits = {
  diskBytes: 1024 * 1024,
  processes: 32,
  memoryBytes: 64 * 1024 * 1024,
  openFiles: 64,
  cpuSeconds: 10,
};

interface PreparedHost {
  readonly resources: HostResources;
  /** Why template code is not sandboxed; null if it is. */
  readonly reason: string | null;
  /** How many directories of killed hosts were removed. */
  readonly swept: number;
}

/** Prepares the resources that this host's attempts share, and makes a trial sandbox to find out whether sandboxes are possible. */
export async function prepareHost(settings: HostSettings): Promise<PreparedHost> {
  const { directory } = settings;
  mkdirSync(directory, { mode: 0o700 });
  const socketDirectory = openSocketDirectory(directory);
  claimDirectory(directory, socketDirectory);
  const swept = await removeOrphanedHosts(dirname(directory));
  await removeLeftGitDirectories().catch(reportUnexpectedError);
  if (settings.groups !== null) killAndRemoveGroups(settings.groups);
  checkMirror(settings);
  const tools = await copyTools(settings);
  const reason = await whyNotSandboxed(settings);
  const view = reason === null ? makeView(settings) : null;
  const resources = new HostResources(settings, view, socketDirectory, tools);
  await resources.denied.refresh();
  return { resources, reason, swept };
}

/** @throws HostSettingsError if the host's user cannot read the operator's providers */
function checkMirror({ providerMirror }: HostSettings): void {
  if (providerMirror === null) return;
  try {
    accessSync(providerMirror, constants.R_OK | constants.X_OK);
  } catch (error) {
    const user = `the executor host's user (${process.getuid?.()})`;
    const why =
      codeOf(error) === 'ENOENT'
        ? 'which does not exist'
        : `which ${user} cannot read: let that user enter every parent directory, and read this one`;
    throw new HostSettingsError(`COORDINATOR_PROVIDER_MIRROR names ${providerMirror}, ${why}.`);
  }
}

/** Copies the tools whose descriptors the worker passed. Returns the copies by their original paths. */
async function copyTools({ directory, closedTools }: HostSettings): Promise<Map<string, string>> {
  const copies = new Map<string, string>();
  for (const { path, descriptor } of closedTools) {
    const copy = join(directory, 'tools', String(descriptor), basename(path));
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    await pipeline(createReadStream('', { fd: descriptor }), createWriteStream(copy, { mode: 0o700 }));
    copies.set(path, copy);
  }
  return copies;
}

function openSocketDirectory(directory: string): string {
  const usual = join(directory, 'sockets');
  const path =
    usual.length <= maxDirectoryLength ? usual : join(tmpdir(), `coordinator-${randomBytes(8).toString('hex')}`);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/** Writes the files that every sandbox gets, and builds its view of the system. */
function makeView({ directory, addedPaths, hiddenPaths, groups }: HostSettings): SystemView {
  const etc = join(directory, 'etc');
  const filterFile = join(directory, 'seccomp.bpf');
  mkdirSync(etc, { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(etcFiles)) writeFileSync(join(etc, name), content, { mode: 0o644 });
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    throw new Error(`there is no system call filter for ${process.arch}`);
  const countsSharedMemory = groups !== null;
  writeFileSync(filterFile, buildSeccompFilter(process.arch, countsSharedMemory), { mode: 0o600 });
  return buildSystemView({ added: addedPaths, hidden: hiddenPaths, filterFile, etc, countsSharedMemory });
}

/** Runs a trial sandbox the way attempts do: if it fails, every attempt would. */
async function whyNotSandboxed(settings: HostSettings): Promise<string | null> {
  if (settings.sandboxProgram === null) return 'the worker asked for no sandbox';
  try {
    const problem = await runTrialSandbox(settings, settings.sandboxProgram);
    return problem === '' ? null : problem;
  } catch (error) {
    return messageOf(error);
  }
}

async function runTrialSandbox(settings: HostSettings, program: string): Promise<string> {
  const { directory: root } = settings;
  const config = { program, view: makeView(settings), directory: root, socketDirectory: root, makeGroup: () => null };
  const launcher = new SandboxLauncher(config);
  const directory = join(root, 'trial');
  await mkdir(join(directory, 'input', 'work'), { recursive: true, mode: 0o700 });
  const { job, clear, remove } = await launcher.start({
    directory,
    environment: {},
    mounts: [],
    relaySocket: null,
    wantsPipes: false,
    steps: ['socat', 'setsid'].map((name) => ({ program: 'sh', arguments: ['-c', `command -v ${name}`] })),
    startIn: launcher.pathsFor().work,
    limits: trialLimits,
  });
  let problem = '';
  job.stderr.on('data', (piece: Buffer) => {
    problem = (problem + piece.toString()).slice(0, 1000);
  });
  job.stdout.resume();
  let ended = 0;
  for (let event = await job.next(); event !== null; event = await job.next()) {
    if (event.name === 'end' && event.details[1] !== '0') problem ||= `${['socat', 'setsid'][ended]} is not installed`;
    if (event.name === 'end') ended++;
    if ((event.name === 'end' && ended < 2) || event.name === 'ready') job.proceed();
  }
  await clear();
  launcher.close();
  await Promise.all([remove(), rm(directory, { recursive: true, force: true })]);
  if (ended === 2) return problem;
  return problem.trim() || 'bubblewrap could not make a sandbox';
}
