import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';

let api: TestApi;
let ana: ApiUser;
let origin: string;
let browser: Browser;

const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };

describe.skipIf(findBrowser() === null)('the sign-in page, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    ana = await api.addUser('maintainer', 'Ana Kowalczyk');
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = originOf(api.app.server);
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  it('signs in and out by keyboard alone, without console errors', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/`);
    expect(page.url()).toBe(`${origin}/login`);
    await focusOn(page, 'email');
    await page.keyboard.type(ana.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(testPassword);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/`);
    await page.goto(`${origin}/login`);
    await page.getByText(ana.email, { exact: true }).waitFor();
    await tabTo(page, 'Sign out');
    await page.keyboard.press('Enter');
    await page.getByText('You are signed out.').waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('works without scripts', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(`${origin}/login?next=/healthz`);
    await page.getByLabel('E-mail address').fill(ana.email);
    await page.getByLabel('Password').fill(testPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${origin}/healthz`);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'coordinator_session', httpOnly: true, sameSite: 'Lax', path: '/' });
    await page.close();
  });

  it('shows each problem at its field', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await showForm(page);
    await page.keyboard.press('Enter');
    await page.getByText('Enter your password').waitFor();
    await focusOn(page, 'email');
    expect(await describeFocus(page)).toMatchObject({
      id: 'email',
      invalid: 'true',
      described: 'Enter your e-mail address',
    });

    await page.getByLabel('E-mail address').fill(ana.email);
    await page.getByLabel('Password').fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await focusOn(page, 'password');
    expect(await page.title()).toBe('Error: Sign in · delivery-coordinator');
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(ana.email);
    const described = 'The e-mail address or the password is wrong. Try again.';
    expect(await describeFocus(page)).toEqual({ id: 'password', invalid: null, value: '', described });

    await page.keyboard.type(testPassword);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/`);
    const refusals = [`400 ${origin}/login`, `401 ${origin}/login`];
    const logged = [expect.stringContaining('status of 400'), expect.stringContaining('status of 401')];
    expect(watch).toEqual({ ...nothing, failed: refusals, consoleErrors: logged });
    await page.close();
  });

  it('sends its own origin, by which older browsers are checked', async () => {
    const { page } = await openWatchedPage(browser, origin);
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await showForm(page);
    await page.keyboard.press('Enter');
    expect(await (await sent).allHeaders()).toMatchObject({ origin, 'sec-fetch-site': 'same-origin' });
    await page.close();
  });

  it.each(['127.0.0.1', 'localhost'])('does not sign in with a form of another server at %s', async (host) => {
    const foreign = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(foreignForm());
    });
    await new Promise<void>((resolve) => foreign.listen(0, host, resolve));
    const page = await browser.newPage();
    await page.goto(`http://${host}:${(foreign.address() as AddressInfo).port}`);
    await page.getByRole('button').click();
    await page.getByText('This form was not sent by a page of this service').waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.close();
    await new Promise((resolve) => foreign.close(resolve));
  });

  // `npm run test:pages` looks at every page in every width and both colours.
  const looks = [
    { scheme: 'light', width: 1280 },
    { scheme: 'dark', width: 390 },
    { scheme: 'light', width: 320 },
  ] as const;

  it('has no accessibility violation and fits, in both schemes and at each width', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    for (const show of [showForm, showBlank, showWrong, showMissing, showSignedIn]) {
      await show(page);
      for (const { scheme, width } of looks) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 800 });
        expect(await findAccessibilityFaults(page), `${show.name} ${scheme} ${width}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), show.name).toBeLessThanOrEqual(width);
      }
    }
    expect({ ...watch, consoleErrors: [], failed: [] }).toEqual(nothing);
    expect(watch.consoleErrors.filter((text) => !/status of 40[014]/.test(text))).toEqual([]);
    await page.close();
  });

  it('follows the reader’s theme and reduced motion', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${origin}/login`);
    expect(await ground()).toBe('rgb(246, 247, 249)');
    await page.evaluate("document.documentElement.dataset.theme = 'dark'");
    expect(await ground()).toBe('rgb(15, 19, 24)');
    const motion = () => page.evaluate("getComputedStyle(document.querySelector('.button')).transitionDuration");
    expect(await motion()).toMatch(/^0\.\d+s/);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await motion()).toMatch(/^0s/);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('starts with a link to skip the header', async () => {
    const { page } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/nothing-here`, { waitUntil: 'load' });
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    expect(await page.evaluate('document.activeElement.getBoundingClientRect().top')).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.close();
  });
});

async function showForm(page: Page): Promise<void> {
  await page.goto(`${origin}/login`);
  await focusOn(page, 'email');
}

async function showBlank(page: Page): Promise<void> {
  await page.keyboard.press('Enter');
  await page.getByText('Enter your e-mail address').waitFor();
}

async function showWrong(page: Page): Promise<void> {
  await page.getByLabel('E-mail address').fill('nobody@example.com');
  await page.getByLabel('Password').fill('not the password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
}

const showMissing = (page: Page) => page.goto(`${origin}/nothing-here`);

async function showSignedIn(page: Page): Promise<void> {
  await page.goto(`${origin}/login?next=/login`);
  await page.getByLabel('E-mail address').fill(ana.email);
  await page.getByLabel('Password').fill(testPassword);
  await page.keyboard.press('Enter');
  await page.getByText('You are signed in').waitFor();
}

async function tabTo(page: Page, name: string): Promise<void> {
  for (let each = 0; each < 40; each++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement.textContent')) === name) return;
  }
  throw new Error(`the keyboard does not reach ${name}`);
}

/** Expects the field that has the focus once the page is drawn. */
async function focusOn(page: Page, id: string): Promise<void> {
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe(id);
}

function describeFocus(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const { activeElement: field } = document;
    const ids = (field.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean);
    const described = ids.map((id) => document.getElementById(id).textContent.trim()).join(' ');
    return { id: field.id, invalid: field.getAttribute('aria-invalid'), value: field.value, described };
  })()`);
}

function foreignForm(): string {
  return `<form method="post" action="${origin}/login"><input name="email" value="${ana.email}">
    <input name="password" value="${testPassword}"><button>Win</button></form>`;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
