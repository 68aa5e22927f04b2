import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findProgram, runStep } from './programs.js';

/** Where test/support/programs/providers.ts finds real providers, which are built from the Go module proxy. */
const directory = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'delivery-coordinator', 'providers');
const modules = {
  'terraform-provider-time': 'github.com/hashicorp/terraform-provider-time@v0.14.2',
  'terraform-provider-local': 'github.com/terraform-providers/terraform-provider-local@v1.4.0',
};

/** Builds missing providers if Go is installed. Tests that need a missing provider are reported as skipped. */
export async function ensureProviders() {
  const go = findProgram('go');
  const missing = Object.entries(modules).filter(([name]) => !existsSync(join(directory, name)));
  if (go === null || missing.length === 0) return;
  mkdirSync(directory, { recursive: true });
  const environment = { ...process.env, GOBIN: directory, GOFLAGS: '' };
  for (const [name, module] of missing) {
    await runStep(`Building ${name} for the tests`, [go, 'install', '-ldflags=-s -w', module], { environment });
  }
}
