import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage } from '#test/support/browser/browser.ts';
import { addSession } from '#test/support/browser/signed-in.ts';
import { listen } from '#test/support/pages/onlookers.ts';

let api: TestApi;
let browser: Browser;
let origin: string;
let tenant: Tenant;

const nothing = { violations: [], consoleErrors: [], pageErrors: [], outside: [] };

describe.skipIf(findBrowser() === null)('the pages of people in a browser', () => {
  beforeAll(async () => {
    api = await startApi();
    [origin, browser, tenant] = await Promise.all([listen(api), launchBrowser(), makeTenant(api)]);
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  test('show an invitation once, say when it is copied, and remove its token from the address', async () => {
    const inviter = await openWatchedPage(browser, origin);
    await addSession(inviter.page, origin, tenant.owner);
    const invited = await api.addUser('requester');
    await inviter.page.goto(`${origin}/organizations/${tenant.organization}/invitations`);
    await inviter.page.getByLabel('E-mail address').fill(invited.email);
    await inviter.page.getByRole('button', { name: 'Create invitation' }).click();
    await inviter.page.getByText('Not copied yet. It is shown only this once.').first().waitFor();
    expect(await findAccessibilityFaults(inviter.page)).toEqual([]);
    await inviter.page.getByRole('button', { name: 'Copy Link' }).click();
    await inviter.page.getByText('Copied.').waitFor();
    const link = await inviter.page.getByLabel('Link', { exact: true }).inputValue();

    const guest = await openWatchedPage(browser, origin);
    await guest.page.goto(link);
    expect(new URL(guest.page.url()).hash).toBe('');
    await guest.page.getByRole('link', { name: 'Sign in' }).first().click();
    await guest.page.getByLabel('E-mail address').fill(invited.email);
    await guest.page.getByLabel('Password').fill(testPassword);
    await guest.page.getByRole('button', { name: 'Sign in' }).click();
    await guest.page.getByRole('button', { name: 'Accept invitation' }).click();
    await guest.page.getByText('You are now a member.').waitFor();
    expect(inviter.watch).toMatchObject(nothing);
    expect(guest.watch).toMatchObject(nothing);
    await Promise.all([inviter.page.close(), guest.page.close()]);
  });

  test('restore once what was typed in a form before the session had ended', async () => {
    const { page } = await openWatchedPage(browser, origin);
    await addSession(page, origin, tenant.owner);
    const form = `${origin}/projects/new?team_id=${tenant.team}`;
    await page.goto(form);
    await page.getByLabel('Name').fill('Half a project');
    await page.getByLabel('Description').fill('two\nlines');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByLabel('E-mail address').fill(tenant.owner.email);
    await page.getByLabel('Password').fill(testPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Half a project');
    expect(await page.getByLabel('Description').inputValue()).toBe('two\nlines');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Project created.').waitFor();
    await page.goto(form);
    expect(await page.getByLabel('Name').inputValue()).toBe('');
    await page.close();
  });

  test('keep a refused form accessible, at both widths and in both schemes', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await addSession(page, origin, tenant.owner);
    // Only a team that owns nothing can be deleted, so only it has the form.
    const teams = `/organizations/${tenant.organization}/teams`;
    const empty = await tenant.owner.make(teams, { name: 'Empty' });
    await page.goto(`${origin}${teams}/${empty.id}/delete`);
    await page.getByLabel('Type Empty to confirm').fill('something else');
    await page.getByRole('button', { name: 'Delete team' }).click();
    await page.getByText('Is another name: type Empty exactly.').first().waitFor();
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      expect(await findAccessibilityFaults(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    }
    // The answer to the refused form has the status 400, which a browser reports as an error of loading.
    const { violations, pageErrors, outside } = watch;
    expect({ violations, pageErrors, outside }).toEqual({ violations: [], pageErrors: [], outside: [] });
    await page.close();
  });

  test('create a key without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await addSession(page, origin, tenant.owner);
    await page.goto(`${origin}/profile`);
    await page.getByRole('link', { name: 'New API key' }).click();
    await page.getByLabel('Name').fill('without scripts');
    await page.getByRole('button', { name: 'Create key' }).click();
    expect(await page.getByLabel('API key').inputValue()).toMatch(/^dc_/);
    await page.getByRole('link', { name: 'Done' }).click();
    expect(await page.getByText('without scripts').count()).toBeGreaterThan(0);
    await context.close();
  });

  test('can turn off single shortcut keys in the profile', async () => {
    const { page } = await openWatchedPage(browser, origin);
    await addSession(page, origin, tenant.owner);
    await page.goto(`${origin}/profile`);
    await page.getByLabel('Keyboard shortcuts').uncheck();
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('?');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    await page.getByLabel('Keyboard shortcuts').check();
    await page.locator('h1').click();
    await page.keyboard.press('?');
    await page.locator('dialog[open]').waitFor();
    await page.close();
  });
});
