import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './errors.js';
import { cache, mkdirIn, withLock } from './lock.js';
import { findProgram, isExecutable, isNetworkFailure, projectPrograms, root, runStep, tryProgram } from './programs.js';

/** The last release whose go.mod lets `go install` build it. */
const version = '1.5.1';
const module = 'github.com/temporalio/cli/cmd/temporal';
const directory = join(cache, `temporal-${version}`);
const program = join(directory, 'temporal');

const alternative = 'install the `temporal` command, or set TEMPORAL_ADDRESS to the address of a Temporal server';
const firstBytesWithinMs = 8_000;
const nextBytesWithinMs = 20_000;

/** Installs the Temporal development server, unless it is installed: downloads it by the SDK, or builds it. @throws SetupError */
export async function ensureTemporal() {
  if (findProgram('temporal') !== null || isExecutable(program)) return;
  await withLock(`temporal-${version}`, async () => {
    if (isExecutable(program)) return;
    mkdirIn(directory);
    // Installed under a draft name and renamed, so that the final path never holds an incomplete program.
    const draft = join(directory, 'draft');
    rmSync(draft, { recursive: true, force: true });
    try {
      mkdirSync(draft, { recursive: true });
      const obtained = (await download(draft)) ?? (await build(draft));
      if (tryProgram([obtained, '--version']) === null) {
        throw new SetupError(`The installed Temporal server does not run on this machine: ${alternative}.`);
      }
      renameSync(obtained, program);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
}

/** Downloads the server by the SDK, which verifies it. Gives up soon if no data arrives. @returns its path, or null */
async function download(draft) {
  const script = join(root, 'scripts', 'setup', 'download-temporal.js');
  let size = 0;
  let deadline = Date.now() + firstBytesWithinMs;
  const shouldStop = () => {
    const now = sizeOf(draft);
    if (now > size) deadline = Date.now() + nextBytesWithinMs;
    size = now;
    return Date.now() > deadline ? 'no data arrived' : null;
  };
  const command = [join(projectPrograms, 'node'), script, draft, `v${version}`];
  const { isDone } = await runStep('Downloading a Temporal server', command, { shouldStop });
  const files = isDone ? readdirSync(draft).map((name) => join(draft, name)) : [];
  return files.find(isExecutable) ?? null;
}

function sizeOf(folder) {
  return readdirSync(folder).reduce((sum, name) => {
    const file = statSync(join(folder, name), { throwIfNoEntry: false });
    return sum + (file?.size ?? 0);
  }, 0);
}

async function build(draft) {
  const go = findProgram('go');
  if (go === null) {
    throw new SetupError(
      `A Temporal server can be neither downloaded (no network?) nor built, since Go is missing: install Go 1.24 or later, or ${alternative}.`,
    );
  }
  const environment = { ...process.env, GOBIN: draft, GOFLAGS: '', CGO_ENABLED: '0' };
  const command = [go, 'install', '-ldflags=-s -w', `${module}@v${version}`];
  const what = 'Building a Temporal server with Go (two to five minutes, once)';
  const { isDone, output } = await runStep(what, command, { environment });
  if (isDone) return join(draft, 'temporal');
  if (isNetworkFailure(output)) {
    throw new SetupError(
      `A Temporal server can be neither downloaded nor built without a network: connect to one and run this again, or ${alternative}.`,
    );
  }
  if (/requires go|toolchain not available|unknown directive|invalid go version/.test(output)) {
    throw new SetupError(`This Go is too old to build a Temporal server: install Go 1.24 or later, or ${alternative}.`);
  }
  const reason = output.split('\n').at(-1);
  throw new SetupError(`A Temporal server cannot be built with Go (${reason}): ${alternative}.`);
}
