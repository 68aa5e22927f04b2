import { findProgram, runStep } from './programs.js';

/** Installs Debian packages if it can: as root, with apt-get. @returns whether they are installed now */
export async function installPackages(what, names, timeoutMs = 5 * 60_000) {
  const aptGet = process.getuid?.() === 0 ? findProgram('apt-get') : null;
  if (aptGet === null) return false;
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const deadline = Date.now() + timeoutMs;
  const options = { environment, shouldStop: () => (Date.now() > deadline ? 'it took too long' : null) };
  const command = [aptGet, 'install', '-y', '--no-install-recommends', ...names];
  if ((await runStep(what, command, options)).isDone) return true;
  await runStep('Updating the package list', [aptGet, 'update'], options);
  return (await runStep(what, command, options)).isDone;
}
