import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cache, mkdirIn, withLock } from './lock.js';
import { findProgram, isExecutable, runStep, tryProgram } from './programs.js';

/** The version that the tests use. test/executors/support.ts and bench/installation/tofu.ts find it in the cache. */
const version = '1.12.6';
const module = 'github.com/opentofu/opentofu';
const directory = join(cache, `tofu-${version}`);
const program = join(directory, 'tofu');

/**
 * Builds OpenTofu from the Go module proxy, if Go is installed and `tofu` is not. Without OpenTofu, the tests run with Terraform alone. Without
 * both, they fail and say so.
 */
export async function ensureTofu() {
  const go = findProgram('go');
  if (go === null || findProgram('tofu') !== null || isExecutable(program)) return;
  await withLock(`tofu-${version}`, async () => {
    if (isExecutable(program)) return;
    const draft = join(directory, 'draft');
    mkdirIn(directory);
    rmSync(draft, { recursive: true, force: true });
    try {
      if (await build(go, draft)) renameSync(join(draft, 'tofu'), program);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
}

/** `go install` refuses a module that replaces dependencies, so its files are copied out of the module cache and built there. */
async function build(go, draft) {
  const environment = { ...process.env, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
  mkdirSync(draft, { recursive: true });
  const options = { cwd: draft, env: environment, timeout: 300_000 };
  const downloaded = tryProgram([go, 'mod', 'download', '-json', `${module}@v${version}`], options);
  if (downloaded === null) {
    console.log('OpenTofu could not be downloaded: the tests run with Terraform alone.');
    return false;
  }
  const sources = join(draft, 'sources');
  cpSync(JSON.parse(downloaded).Dir, sources, { recursive: true });
  makeWritable(sources);
  const flags = `-ldflags=-s -w -X ${module}/version.dev=no`;
  const command = [go, 'build', '-C', sources, '-buildvcs=false', flags, '-o', join(draft, 'tofu'), './cmd/tofu'];
  const { isDone, output } = await runStep('Building OpenTofu for the tests (three minutes, once)', command, {
    environment,
  });
  if (!isDone) console.log(`${output}\nOpenTofu could not be built: the tests run with Terraform alone.`);
  return isDone;
}

/** The module cache is read-only, and so are copies of its files and directories. */
function makeWritable(folder) {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeWritable(path);
    else if (entry.isFile()) chmodSync(path, 0o644);
  }
}
