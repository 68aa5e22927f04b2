import { installPackages } from './debian.js';
import { isExecutable } from './programs.js';

/** Chromium without its windows. It takes a quarter of the processor time that the whole of Chromium takes. */
const shell = '/usr/bin/chromium-headless-shell';

/** Where else tests look for a browser. Keep the same as in test/support/browser/browser.ts. */
const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Installs Chromium without its windows if it can (as root on Debian), or else Chromium. Without one, the tests that need it fail and say so. */
export async function ensureBrowser() {
  if ([process.env.CHROMIUM_PATH, shell].some((path) => path && isExecutable(path))) return;
  const hasOther = places.some(isExecutable);
  const what = 'Installing Chromium without windows for the browser tests';
  if (await installPackages(what, ['chromium-headless-shell'], hasOther ? 60_000 : undefined)) return;
  if (hasOther || (await installPackages('Installing Chromium for the browser tests', ['chromium']))) return;
  console.error(
    'Browser tests need Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM_PATH to its path.',
  );
}
