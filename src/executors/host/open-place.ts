import { randomBytes } from 'node:crypto';
import { accessSync, constants, createReadStream, createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf, messageOf } from '../attempt/attempt-error.ts';
import { endGroups } from '../groups/delegation.ts';
import { etcFiles, type SystemView, viewSystem } from '../sandbox/bubblewrap.ts';
import { SandboxEnclosure } from '../sandbox/sandbox-enclosure.ts';
import { buildSeccompFilter } from '../sandbox/seccomp.ts';
import { HostPlace } from './host-place.ts';
import { claimDirectory, removeForsaken } from './leftovers.ts';
import { type HostSettings, HostSettingsError } from './settings.ts';

/** Unix sockets have names of at most 107 bytes; the sockets' own names are short. */
const longestDirectory = 90;
const trialLimits = {
  diskBytes: 1024 * 1024,
  processes: 32,
  memoryBytes: 64 * 1024 * 1024,
  openFiles: 64,
  cpuSeconds: 10,
};

export interface OpenedPlace {
  readonly place: HostPlace;
  /** Why template code is not contained; null where it is. */
  readonly reason: string | null;
  /** How many directories of killed hosts were removed. */
  readonly swept: number;
}

/** Makes what attempts of this host share, and finds out by trying whether they can be contained. */
export async function openPlace(settings: HostSettings): Promise<OpenedPlace> {
  const { directory } = settings;
  mkdirSync(directory, { mode: 0o700 });
  const socketDirectory = openSocketDirectory(directory);
  claimDirectory(directory, socketDirectory);
  const swept = await removeForsaken(dirname(directory));
  if (settings.groups !== null) endGroups(settings.groups);
  checkMirror(settings);
  const tools = await copyTools(settings);
  const reason = await whyUncontained(settings);
  const view = reason === null ? makeView(settings) : null;
  const place = new HostPlace(settings, view, socketDirectory, tools);
  await place.denied.refresh();
  return { place, reason, swept };
}

/** @throws HostSettingsError where the host's user cannot read the operator's providers */
function checkMirror({ providerMirror }: HostSettings): void {
  if (providerMirror === null) return;
  try {
    accessSync(providerMirror, constants.R_OK | constants.X_OK);
  } catch (error) {
    const user = `the executor host's user (${process.getuid?.()})`;
    const why =
      codeOf(error) === 'ENOENT'
        ? 'which does not exist'
        : `which ${user} cannot read: let it pass every directory above, and read this one`;
    throw new HostSettingsError(`COORDINATOR_PROVIDER_MIRROR names ${providerMirror}, ${why}.`);
  }
}

/** Makes copies of the tools that were handed over open. Answers the copy of each. */
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
    usual.length <= longestDirectory ? usual : join(tmpdir(), `coordinator-${randomBytes(8).toString('hex')}`);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/** Writes what every sandbox is given of the system. */
function makeView({ directory, addedPaths, hiddenPaths }: HostSettings): SystemView {
  const etc = join(directory, 'etc');
  const filterFile = join(directory, 'seccomp.bpf');
  mkdirSync(etc, { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(etcFiles)) writeFileSync(join(etc, name), content, { mode: 0o644 });
  if (process.arch !== 'x64' && process.arch !== 'arm64') throw new Error('no filter is known for this architecture');
  writeFileSync(filterFile, buildSeccompFilter(process.arch), { mode: 0o600 });
  return viewSystem({ added: addedPaths, secret: hiddenPaths, filterFile, etc });
}

/** Runs a sandbox as attempts will: what does not work now would fail every one of them. */
async function whyUncontained(settings: HostSettings): Promise<string | null> {
  if (settings.sandboxProgram === null) return 'the worker asked for no sandbox';
  try {
    const said = await tryOut(settings, settings.sandboxProgram);
    return said === '' ? null : said;
  } catch (error) {
    return messageOf(error);
  }
}

async function tryOut(settings: HostSettings, program: string): Promise<string> {
  const { directory: root } = settings;
  const workshop = { program, view: makeView(settings), directory: root, socketDirectory: root, makeGroup: () => null };
  const enclosure = new SandboxEnclosure(workshop);
  const directory = join(root, 'trial');
  await mkdir(join(directory, 'input', 'work'), { recursive: true, mode: 0o700 });
  const { job, clear, remove } = await enclosure.start({
    ...{ directory, environment: {}, mounts: [], relaySocket: null, wantsPipes: false },
    steps: ['socat', 'setsid'].map((name) => ({ program: 'sh', arguments: ['-c', `command -v ${name}`] })),
    startIn: enclosure.placesOf().work,
    limits: trialLimits,
  });
  let said = '';
  job.stderr.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(0, 1000);
  });
  job.stdout.resume();
  let ended = 0;
  for (let event = await job.next(); event !== null; event = await job.next()) {
    if (event.word === 'end' && event.details[1] !== '0') said ||= `${['socat', 'setsid'][ended]} is not installed`;
    if (event.word === 'end') ended++;
    if ((event.word === 'end' && ended < 2) || event.word === 'ready') job.proceed();
  }
  await clear();
  enclosure.close();
  await Promise.all([remove(), rm(directory, { recursive: true, force: true })]);
  if (ended === 2) return said;
  return said.trim() || 'bubblewrap could not make a sandbox';
}
