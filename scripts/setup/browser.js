import { findProgram, isExecutable, runStep } from './programs.js';

/** Where tests look for a browser; the same places as test/support/browser.ts. */
const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const longestMs = 5 * 60_000;

/** Installs Chromium where that is possible (root on Debian). Without one, the tests that need it fail and say so. */
export async function ensureBrowser() {
  if ([process.env.CHROMIUM_PATH, ...places].some((path) => path && isExecutable(path))) return;
  const aptGet = process.getuid?.() === 0 ? findProgram('apt-get') : null;
  const isInstalled = aptGet !== null && (await install(aptGet));
  if (!isInstalled) {
    console.error(
      'Browser tests need Chromium: install it (Debian: apt-get install chromium), or name it in CHROMIUM_PATH.',
    );
  }
}

async function install(aptGet) {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const deadline = Date.now() + longestMs;
  const options = { environment, shouldStop: () => (Date.now() > deadline ? 'it takes too long' : null) };
  const command = [aptGet, 'install', '-y', '--no-install-recommends', 'chromium'];
  const first = await runStep('Installing Chromium for the browser tests', command, options);
  if (first.isDone) return true;
  await runStep('Reading the list of packages', [aptGet, 'update'], options);
  return (await runStep('Installing Chromium for the browser tests', command, options)).isDone;
}
