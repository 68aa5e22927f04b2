import { installPackages } from './debian.js';
import { isExecutable } from './programs.js';

/** Where tests look for a browser. Keep the same as in test/support/browser/browser.ts. */
const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Installs Chromium if it can (as root on Debian). Without it, the tests that need it fail and say so. */
export async function ensureBrowser() {
  if ([process.env.CHROMIUM_PATH, ...places].some((path) => path && isExecutable(path))) return;
  if (await installPackages('Installing Chromium for the browser tests', ['chromium'])) return;
  console.error(
    'Browser tests need Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM_PATH to its path.',
  );
}
