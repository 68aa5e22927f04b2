import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCircles } from './import-circles.js';

/**
 * Checks the direction of imports (.dependency-cruiser.cjs), and that no files import each other in circles. dependency-cruiser reports nothing when it
 * reads nothing. The check therefore fails if it read no modules, or if it misses one of the violations that are planted on purpose.
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
  const { summary, modules } = JSON.parse(result.stdout);
  return { ...summary, circles: findCircles(directory, modules) };
}

const { violations, totalCruised, circles } = cruise(root, 'src', 'migrations');
const planted = cruise(fixture, 'src');
for (const { rule, from, to } of violations) console.error(`${rule.name}: ${from} → ${to}`);
for (const circle of circles) console.error(`no-circles: ${circle}`);
console.log(`${totalCruised} modules read, ${violations.length} forbidden imports, ${circles.length} circles.`);

const expected = [
  'domain-imports-too-much',
  'domain-identity-imports-up',
  'api-teams-imports-up',
  'api-without-stores',
  'only-lists-of-areas-import-declarations',
];
const missed = expected.filter((name) => !planted.violations.some(({ rule }) => rule.name === name));
if (planted.circles.length === 0) missed.push('no-circles');
for (const name of missed)
  console.error(`The check did not find the planted violation of ${name}, so it does not work.`);
process.exit(totalCruised === 0 || missed.length > 0 || violations.length + circles.length > 0 ? 1 : 0);
