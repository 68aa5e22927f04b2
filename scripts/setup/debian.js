import { findProgram, runStep } from './programs.js';

const longestMs = 5 * 60_000;

/** Installs Debian's packages where that is possible: as root, with apt-get. Answers whether they are there now. */
export async function installPackages(what, names) {
  const aptGet = process.getuid?.() === 0 ? findProgram('apt-get') : null;
  if (aptGet === null) return false;
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const deadline = Date.now() + longestMs;
  const options = { environment, shouldStop: () => (Date.now() > deadline ? 'it takes too long' : null) };
  const command = [aptGet, 'install', '-y', '--no-install-recommends', ...names];
  if ((await runStep(what, command, options)).isDone) return true;
  await runStep('Reading the list of packages', [aptGet, 'update'], options);
  return (await runStep(what, command, options)).isDone;
}
