import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './errors.js';
import { cache, mkdirIn, withLock } from './lock.js';
import { findProgram, root, runStep, tryProgram } from './programs.js';

/**
 * Installs the programs that generate clients from the OpenAPI document, and those that try the API. Each set lies in a
 * directory of the cache that is named after its pinned versions, where test/support/programs/client-tools.ts finds it.
 */
export async function ensureClientTools() {
  await ensure('typescript', installTypeScript);
  if (findPython()) await ensure('python', installPython);
  else console.log('Python 3.10 or later is missing: the tests of the Python client will be skipped.');
}

/** Does nothing if the set is installed already. A set is marked once it is whole. */
async function ensure(name, install) {
  const directory = directoryOf(name);
  const mark = join(directory, 'installed');
  if (existsSync(mark)) return;
  await withLock(`client-${name}`, async () => {
    if (existsSync(mark)) return;
    rmSync(directory, { recursive: true, force: true });
    mkdirIn(directory);
    await install(directory);
    writeFileSync(mark, '');
  });
}

/** The file that pins the versions of a set. */
const pins = { typescript: 'package-lock.json', python: 'requirements.txt' };

function directoryOf(name) {
  const content = readFileSync(join(root, 'test', 'clients', name, pins[name]));
  return join(cache, `client-${name}-${createHash('sha256').update(content).digest('hex').slice(0, 16)}`);
}

async function installTypeScript(directory) {
  for (const file of ['package.json', 'package-lock.json']) {
    cpSync(join(root, 'test', 'clients', 'typescript', file), join(directory, file));
  }
  const command = ['npm', 'ci', '--prefix', directory, '--no-audit', '--no-fund', '--ignore-scripts'];
  await mustSucceed('Installing the generator of TypeScript clients', command);
}

async function installPython(directory) {
  const environment = join(directory, 'venv');
  await mustSucceed('Making a Python environment', [findPython(), '-m', 'venv', environment]);
  const requirements = join(root, 'test', 'clients', 'python', 'requirements.txt');
  const pip = [
    join(environment, 'bin', 'python'),
    '-m',
    'pip',
    'install',
    '--disable-pip-version-check',
    '-r',
    requirements,
  ];
  await mustSucceed('Installing the generator of Python clients', pip);
}

async function mustSucceed(what, command) {
  const { isDone, output } = await runStep(what, command);
  if (!isDone) throw new SetupError(`${what} failed:\n${output}`);
}

/** A Python with `venv` that the generator supports. */
function findPython() {
  const python = findProgram('python3');
  const check = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';
  return python !== null && tryProgram([python, '-c', check]) !== null ? python : null;
}
