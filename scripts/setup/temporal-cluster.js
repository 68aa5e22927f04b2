import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './errors.js';
import { cache, mkdirIn, withLock } from './lock.js';
import { findProgram, isExecutable, isNetworkFailure, runStep } from './programs.js';

/** The Temporal server as production runs it, for benchmarks. bench/installation/temporal-cluster.ts finds it here. */
const version = '1.31.2';
const directory = join(cache, `temporal-server-${version}`);
const programs = { server: 'cmd/server', sql: 'cmd/tools/sql' };

/** Builds the Temporal server and the tool that creates its schema, unless both are installed. @throws SetupError */
export async function ensureTemporalCluster() {
  const isInstalled = () => Object.keys(programs).every((name) => isExecutable(join(directory, name)));
  if (isInstalled()) return;
  await withLock(`temporal-server-${version}`, async () => {
    if (isInstalled()) return;
    mkdirIn(directory);
    const draft = join(directory, `draft-${process.pid}`);
    try {
      mkdirSync(draft, { recursive: true });
      await build(draft);
      for (const name of Object.keys(programs)) renameSync(join(draft, name), join(directory, name));
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
}

async function build(draft) {
  const go = findProgram('go');
  if (go === null) {
    throw new SetupError(
      `The benchmarks need Temporal server ${version}, which is built with Go: install Go 1.26 or later.`,
    );
  }
  const environment = { ...process.env, GOBIN: draft, GOFLAGS: '', CGO_ENABLED: '0' };
  const packages = Object.values(programs).map((path) => `go.temporal.io/server/${path}@v${version}`);
  const what = `Building Temporal server ${version} with Go (three to ten minutes, once)`;
  const { isDone, output } = await runStep(what, [go, 'install', '-ldflags=-s -w', ...packages], { environment });
  if (isDone) return;
  if (isNetworkFailure(output)) {
    throw new SetupError(
      `Temporal server ${version} cannot be built without a network: connect to one and run this again.`,
    );
  }
  throw new SetupError(`Temporal server ${version} cannot be built with Go: ${output.split('\n').at(-1)}.`);
}
