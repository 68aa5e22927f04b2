import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { SetupError } from './errors.js';
import { withLock } from './lock.js';
import { findProgram, isNetworkFailure, projectPrograms, root, runStep, tryProgram } from './programs.js';

const lockFile = join(root, 'package-lock.json');
const stampFile = join(root, 'node_modules', '.setup-stamp');

/** Installs the packages of package-lock.json, unless exactly these are installed. @throws SetupError */
export async function ensureDependencies() {
  if (isStamped()) return;
  const project = createHash('sha256').update(root).digest('hex').slice(0, 16);
  await withLock(`dependencies-${project}`, async () => {
    if (isStamped()) return;
    if (!isInstalled()) await install();
    checkNode();
    writeFileSync(stampFile, stamp());
  });
}

function stamp() {
  const system = `${process.platform} ${process.arch}\n`;
  return createHash('sha256').update(system).update(readFileSync(lockFile)).digest('hex');
}

function isStamped() {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp();
}

/** Whether npm has installed every package in the version of the lock file. */
function isInstalled() {
  const installedFile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const { packages: wanted } = JSON.parse(readFileSync(lockFile, 'utf8'));
  const { packages: installed } = JSON.parse(readFileSync(installedFile, 'utf8'));
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || optional || installed[path]?.version === version,
  );
}

async function install() {
  // npm must run on the system's Node, since it is about to replace the project's own one.
  const path = (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== projectPrograms);
  const environment = { ...process.env, PATH: path.join(delimiter) };
  const npm = findProgram('npm');
  if (npm === null) throw new SetupError('npm was not found: install Node 20 or later with npm.');
  const command = [npm, 'ci', '--no-audit', '--no-fund', '--loglevel=error', '--include=dev', '--include=optional'];
  const { isDone, output } = await runStep('Installing dependencies', command, { environment });
  if (isDone) return;
  if (isNetworkFailure(output)) {
    throw new SetupError(
      'The dependencies cannot be downloaded: connect to the network (or configure a proxy for npm), then run this again.',
    );
  }
  if (/ENOSPC/.test(output)) throw new SetupError('The disk is full: free about 1 GB, then run this again.');
  throw new SetupError(`The dependencies cannot be installed; npm says: ${firstError(output)}`);
}

/** The code and the first sentence of npm's error. */
function firstError(output) {
  const lines = output.split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim());
  const [code, reason] = lines.filter((line) => line !== '' && !line.startsWith('npm warn'));
  return [code, reason].filter((part) => part !== undefined).join(': ');
}

function checkNode() {
  const version = tryProgram([join(projectPrograms, 'node'), '--version']);
  if (version?.startsWith('v24.')) return;
  throw new SetupError(
    'Node 24 was not installed with the dependencies, perhaps because install scripts are disabled (ignore-scripts): ' +
      'enable them, remove node_modules, then run this again.',
  );
}
