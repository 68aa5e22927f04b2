import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const common = ['-input=false', '-no-color'];
const subcommands = {
  init: ['init', ...common],
  plan: ['plan', ...common, '-out=plan'],
  show: ['show', '-json', '-no-color', 'plan'],
  apply: ['apply', ...common, 'plan'],
};
export type BareCall = keyof typeof subcommands;

/**
 * Calls the tool without the service, in a new directory with this configuration. @returns how long each call took, in milliseconds
 * @throws Error if a call fails
 */
export async function runBareTool<Call extends BareCall>(
  tool: string,
  { directory, configuration }: { readonly directory: string; readonly configuration: string },
  calls: readonly Call[],
): Promise<Record<Call, number>> {
  mkdirSync(join(directory, 'bare'), { recursive: true });
  const work = mkdtempSync(join(directory, 'bare', 'run-'));
  writeFileSync(join(work, 'main.tf'), configuration);
  const took: Partial<Record<Call, number>> = {};
  for (const call of calls) {
    const startedAt = performance.now();
    const child = spawn(tool, subcommands[call], {
      cwd: work,
      env: { PATH: process.env['PATH'], HOME: work, TF_IN_AUTOMATION: '1', CHECKPOINT_DISABLE: '1' },
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`${call} ended with ${code}`);
    took[call] = performance.now() - startedAt;
  }
  rmSync(work, { recursive: true, force: true });
  return took as Record<Call, number>;
}
