import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { addSession } from '#test/support/browser/signed-in.ts';

let api: TestApi;
let root: ApiUser;
let origin: string;
let browser: Browser;

const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };
const wanted = 'another good one';

describe.skipIf(findBrowser() === null)('the profile page, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    root = await api.addUser('admin', 'Root');
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  it('changes the password by keyboard alone, and leaves only this browser signed in', async () => {
    const ana = await api.addUser('maintainer', 'Ana Kowalczyk');
    const elsewhere = await api.signIn(ana);
    const { page, watch } = await openWatchedPage(browser, origin);
    await openProfile(page, ana);
    await page.getByLabel('Current password').focus();
    for (const password of [testPassword, wanted, wanted]) {
      await page.keyboard.type(password);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByText('Password changed.').waitFor();
    expect(await page.getByText('This session').count()).toBe(1);
    expect((await elsewhere.get('/auth/whoami')).status).toBe(401);
    expect(watch).toEqual(nothing);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').fill(ana.email);
    await page.getByLabel('Password').fill(wanted);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/`);
    await page.close();
  });

  it('moves the focus to the field with a problem, and describes the problem', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await openProfile(page, await api.addUser('maintainer'));
    await showProblem(page);
    const focused = () => page.evaluate('document.activeElement.id');
    await expect.poll(focused).toBe('current_password');
    const problem = await page.getByLabel('Current password').getAttribute('aria-describedby');
    expect(await page.locator(`#${problem}`).textContent()).toContain('This is not your password.');
    expect({ ...watch, consoleErrors: [] }).toEqual({ ...nothing, failed: [`400 ${origin}/profile/password`] });
    await page.close();
  });

  it('shows the result of an action once, and not again after a reload', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await openProfile(page, await api.addUser('maintainer'));
    await page.goto(`${origin}/profile?tab=x&done=details&added=x&next_team=x&next_role=x#main`);
    await page.getByText('Details saved.').waitFor();
    await page.waitForURL(`${origin}/profile?tab=x#main`);
    await page.reload();
    expect(await page.getByText('Details saved.').count()).toBe(0);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('shows the result of an action without scripts', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await openProfile(page, await api.addUser('maintainer'));
    await page.goto(`${origin}/profile?done=details`);
    await page.getByText('Details saved.').waitFor();
    await page.close();
  });

  it('ends another session with a button that names it, without scripts', async () => {
    const ana = await api.addUser('maintainer');
    const elsewhere = await api.signIn(ana);
    const page = await browser.newPage({ javaScriptEnabled: false });
    await openProfile(page, ana);
    await page.getByRole('button', { name: /^End the session of / }).click();
    await page.getByText('Session ended.').waitFor();
    expect((await elsewhere.get('/auth/whoami')).status).toBe(401);
    await page.close();
  });

  it('lets a user with a forgotten password sign in again by a link', async () => {
    const ana = await api.addUser('maintainer');
    const { page, watch } = await openWatchedPage(browser, origin);
    await followLink(page, await linkFor(ana));
    await page.getByLabel('New password', { exact: true }).fill(wanted);
    await page.getByLabel('Confirm new password').fill(wanted);
    await page.keyboard.press('Enter');
    await page.getByText('Your new password is set.').waitFor();
    expect(watch).toEqual(nothing);
    await api.signIn(ana, wanted);
    await page.close();
  });

  // `npm run test:pages` looks at every page in every width and both colours.
  const looks = [
    { scheme: 'light', width: 1280 },
    { scheme: 'dark', width: 390 },
    { scheme: 'light', width: 320 },
  ] as const;

  it('has no accessibility violation and fits, in both schemes and at each width', async () => {
    const ana = await api.addUser('maintainer', `Ana ${'Wolfeschlegelsteinhausenbergerdorff'.repeat(2)}`);
    await api.signIn(ana);
    await ana.post('/profile/api-keys', {
      name: 'a-key-with-one-very-long-name-that-has-no-place-to-break-anywhere-at-all',
    });
    const { page, watch } = await openWatchedPage(browser, origin);
    const views: Record<string, () => Promise<unknown>> = {
      profile: () => openProfile(page, ana),
      news: () => page.goto(`${origin}/profile?done=details`),
      problem: () => showProblem(page),
      link: () => linkFor(ana).then((link) => followLink(page, link)),
      'dead link': () => followLink(page, `${origin}/password-reset#token=x`),
    };
    for (const [name, show] of Object.entries(views)) {
      await show();
      for (const { scheme, width } of looks) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 800 });
        expect(await findAccessibilityFaults(page), `${name} ${scheme} ${width}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(width);
      }
    }
    expect({ ...watch, consoleErrors: [], failed: [] }).toEqual(nothing);
    await page.close();
  });
});

async function openProfile(page: Page, user: ApiUser): Promise<void> {
  await addSession(page, origin, user);
  await page.goto(`${origin}/profile`);
}

async function showProblem(page: Page): Promise<void> {
  await page.getByLabel('Current password').fill('not the password');
  await page.getByLabel('New password', { exact: true }).fill(wanted);
  await page.getByLabel('Confirm new password').fill(wanted);
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('This is not your password.').waitFor();
}

async function linkFor(user: ApiUser): Promise<string> {
  const { body } = await root.post(`/users/${user.id}/password-reset`);
  return `${origin}/password-reset#token=${body.token}`;
}

/** The link leads to a step in which the token is in the form already. */
async function followLink(page: Page, link: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(link);
  const next = page.getByRole('button', { name: 'Continue' });
  await next.click();
  await next.waitFor({ state: 'detached' });
}
