import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Checks the direction of imports (.dependency-cruiser.cjs). dependency-cruiser reports nothing when it reads nothing. The
 * check therefore fails if it read no modules, or if it misses a violation that is planted on purpose.
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
  if (!result.stdout) throw new Error(`dependency-cruiser printed nothing: ${result.stderr}`);
  return JSON.parse(result.stdout).summary;
}

const { violations, totalCruised } = cruise(root, 'src', 'migrations');
const planted = cruise(fixture, 'src');
for (const { rule, from, to } of violations) console.error(`${rule.name}: ${from} → ${to}`);
console.log(`${totalCruised} modules read, ${violations.length} forbidden imports.`);

const isBlind = totalCruised === 0 || !planted.violations.some(({ rule }) => rule.name === 'domain-imports-too-much');
if (isBlind) console.error('The check did not find the planted violation, so it does not work.');
process.exit(isBlind || violations.length > 0 ? 1 : 0);
