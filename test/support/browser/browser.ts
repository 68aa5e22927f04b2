import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const usualPlaces = [
  // The others open windows that nobody sees, which takes four times the processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Where a Chromium is: `CHROMIUM_PATH`, else the usual places; null where there is none. */
export function findBrowser(): string | null {
  const named = process.env['CHROMIUM_PATH'];
  if (named) return named;
  return usualPlaces.find((path) => existsSync(path)) ?? null;
}

/** A real Chromium without a window, which makes no requests of its own. Close it when done. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === null)
    throw new Error('no Chromium was found: install the package chromium, or set CHROMIUM_PATH');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
    ],
  });
}

/** What a page did that it should not have; a test expects every list to be empty. */
export type PageWatch = {
  violations: string[];
  consoleErrors: string[];
  pageErrors: string[];
  outside: string[];
  failed: string[];
};

/** Opens a page and writes down what goes wrong on it: policy violations, errors, failed answers, requests elsewhere. */
export async function openWatchedPage(browser: Browser, origin: string): Promise<{ page: Page; watch: PageWatch }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  const watch: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };
  await page.exposeFunction('reportViolation', (text: string) => watch.violations.push(text));
  await page.addInitScript(reportViolations);
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') watch.consoleErrors.push(message.text());
  });
  page.on('pageerror', (error) => watch.pageErrors.push(error.message));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.protocol !== 'blob:' && url.origin !== origin)
      watch.outside.push(request.url());
  });
  page.on('response', (response) => {
    if (response.status() >= 400) watch.failed.push(`${response.status()} ${response.url()}`);
  });
  return { page, watch };
}

/** Runs inside the page, before its own scripts. */
const reportViolations = `document.addEventListener('securitypolicyviolation', (event) => {
  window.reportViolation(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile + ':' + event.lineNumber);
});`;
