import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { findBrowser, launchBrowser } from '#test/support/browser/browser.ts';
import { signInAt } from '#test/support/browser/signed-in.ts';
import { listen } from '#test/support/pages/onlookers.ts';

let api: TestApi;
let root: ApiUser;
let origin: string;
let browser: Browser;
let context: BrowserContext;
let page: Page;

const field = (name: string) => page.locator(`form.form [name="${name}"]`);

/** Follows a link to another page, and goes back as a person does. */
async function leaveAndComeBack(): Promise<void> {
  await page.locator('.navigation').getByRole('link', { name: 'Catalog' }).click();
  await page.waitForURL(`${origin}/catalog`);
  const answer = await page.goBack();
  expect([answer?.status(), answer?.request().method()]).toEqual([200, 'GET']);
}

describe.skipIf(findBrowser() === null)('going back to a form, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    root = await api.addUser('admin', 'Root');
    origin = await listen(api);
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });
  beforeEach(async () => {
    await context?.close();
    context = await browser.newContext();
    page = await context.newPage();
    await signInAt(page, origin, root);
  });

  it('shows what was typed after the form was refused', async () => {
    await page.goto(`${origin}/users/new`);
    await field('name').fill('Ana');
    await field('email').fill('not an address');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await leaveAndComeBack();
    await page.getByText('We kept what you typed.').waitFor();
    expect(page.url()).toBe(`${origin}/users/new`);
    expect([await field('name').inputValue(), await field('email').inputValue()]).toEqual(['Ana', 'not an address']);
    await page.reload();
    expect(await field('name').inputValue()).toBe('Ana');
  });

  it('shows what was typed into a form without autocomplete that asks for a confirmation', async () => {
    const step = [{ name: 'go', run: ['true'] }];
    const executor = { kind: 'command', apply: step, destroy: step };
    const { id } = await root.make('/registry/templates', { name: 'Greeter' });
    await root.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec: { executor } });
    await page.goto(`${origin}/catalog/${id}/run?environment_id=none&operation=destroy`);
    await field('message').fill('tidy up');
    await leaveAndComeBack();
    await expect.poll(() => field('message').inputValue()).toBe('tidy up');
    await page.getByRole('button', { name: 'Destroy' }).click();
    await page.getByText('Nothing has started yet.').waitFor();
    await leaveAndComeBack();
    await expect.poll(() => field('message').inputValue()).toBe('tidy up');
  });
});
