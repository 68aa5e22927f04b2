import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram, runStep } from './programs.js';

/** Where test/support/programs/providers.ts finds real providers, which are built from the Go module proxy. */
const directory = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'delivery-coordinator', 'providers');
const modules = {
  'terraform-provider-time': 'github.com/hashicorp/terraform-provider-time@v0.14.2',
  'terraform-provider-local': 'github.com/terraform-providers/terraform-provider-local@v1.4.0',
};

/** A provider of the tests' own. Its name has its version, which changes with its source, here and in test/support/programs/providers.ts. */
const ownProvider = 'terraform-provider-ephemeral_v1.0.0';
const ownSource = join(dirname(fileURLToPath(import.meta.url)), '../../test/support/programs/ephemeral-provider');

/** Builds missing providers if Go is installed. Tests that need a missing provider are reported as skipped. */
export async function ensureProviders() {
  const go = findProgram('go');
  if (go === null) return;
  mkdirSync(directory, { recursive: true });
  const missing = Object.entries(modules).filter(([name]) => !existsSync(join(directory, name)));
  const environment = { ...process.env, GOBIN: directory, GOFLAGS: '' };
  for (const [name, module] of missing) {
    await runStep(`Building ${name} for the tests`, [go, 'install', '-ldflags=-s -w', module], { environment });
  }
  const program = join(directory, ownProvider);
  if (existsSync(program)) return;
  const build = [go, 'build', '-C', ownSource, '-ldflags=-s -w', '-o', program, '.'];
  await runStep(`Building ${ownProvider} for the tests`, build, { environment });
}
