import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Checks who imports what (.dependency-cruiser.cjs). A cruise that reads nothing finds nothing, so a planted violation
 * must be found, and every cruise must have read modules.
 */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const fixture = join(root, 'test', 'support', 'dependency-violation');

function cruise(directory, ...folders) {
  const cruiser = join(root, 'node_modules', '.bin', 'depcruise');
  const config = join(root, '.dependency-cruiser.cjs');
  const result = spawnSync(cruiser, [...folders, '--config', config, '--output-type', 'json'], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (!result.stdout) throw new Error(`dependency-cruiser said nothing: ${result.stderr}`);
  return JSON.parse(result.stdout).summary;
}

const { violations, totalCruised } = cruise(root, 'src', 'migrations');
const planted = cruise(fixture, 'src');
for (const { rule, from, to } of violations) console.error(`${rule.name}: ${from} → ${to}`);
console.log(`${totalCruised} modules read, ${violations.length} forbidden imports.`);

const isBlind = totalCruised === 0 || !planted.violations.some(({ rule }) => rule.name === 'domain-imports-too-much');
if (isBlind) console.error('The planted violation was not found: the check does not work.');
process.exit(isBlind || violations.length > 0 ? 1 : 0);
