import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
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
let organization: string;
let team: string;
let template: string;
let testing: string;
let live: string;

describe.skipIf(findBrowser() === null)('what somebody types into a form for one thing, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    root = await api.addUser('admin', 'Root');
    origin = await listen(api);
    await makeTargets();
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

  it('is not filled into the form of the same page for another target', async () => {
    await page.goto(runForm('a', live));
    await field('message').fill('tidy up');
    await page.goto(runForm('b', testing));
    expect(await target()).toEqual(['b', testing, '']);
    await page.goto(`${runForm('a', live)}&done=saved`);
    await noticed();
    await expect.poll(() => field('message').inputValue()).toBe('tidy up');
    expect(await target()).toEqual(['a', live, 'tidy up']);
  });

  it('does not change a field that the address sets', async () => {
    await page.goto(runForm('a', live));
    await field('instance').fill('another');
    await field('message').fill('tidy up');
    await page.reload();
    await page.getByText('Fields that the address of this page sets are as it says.').waitFor();
    await expect.poll(() => field('message').inputValue()).toBe('tidy up');
    expect(await target()).toEqual(['a', live, 'tidy up']);
  });

  it('is not filled into the policy of another environment', async () => {
    const policy = `${origin}/organizations/${organization}/teams/${team}/setup/policy?environment_id=`;
    const box = page.locator('[name="approval_policy.allow_self"]');
    await page.goto(policy + testing);
    await box.check();
    await page.goto(policy + live);
    expect(await box.isChecked()).toBe(false);
    await page.goto(policy + testing);
    await noticed();
    expect(await box.isChecked()).toBe(true);
  });

  it('is dropped with a notice once the form is about something else', async () => {
    await page.goto(`${origin}/catalog/${template}/publish`);
    await field('changelog').fill('What is new');
    await publish('1.1.0');
    await page.reload();
    await page.getByText('What this form is about has changed').waitFor();
    expect(await field('changelog').inputValue()).toBe('');
    expect(await stored()).toBe('{}');
  });

  it('is forgotten after a day', async () => {
    await page.goto(`${origin}/organizations/new`);
    await field('name').fill('Contoso');
    await page.goto(`${origin}/organizations`);
    expect(await stored()).toContain('Contoso');
    const aDayAgo = Date.now() - 24 * 60 * 60 * 1000 - 1;
    await page.evaluate(`for (const [key, text] of Object.entries(sessionStorage))
      sessionStorage.setItem(key, JSON.stringify({ ...JSON.parse(text), at: ${aDayAgo} }))`);
    await page.goto(`${origin}/organizations/new`);
    expect(await field('name').inputValue()).toBe('');
    expect(await stored()).toBe('{}');
  });

  it('is forgotten when its writer cancels', async () => {
    await page.goto(`${origin}/organizations/new`);
    await field('name').fill('Contoso');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.waitForURL(`${origin}/organizations`);
    expect(await stored()).toBe('{}');
  });

  it('is not kept if it confirms what the form does', async () => {
    await page.goto(`${origin}/organizations/${organization}/transfer`);
    await field('confirmation').fill('Northwind');
    await page.reload();
    expect(await field('confirmation').inputValue()).toBe('');
    expect(await stored()).not.toContain('Northwind');
  });

  it('is kept without the address of a webhook, with which anybody can post', async () => {
    await page.goto(`${origin}/admin/webhooks/new`);
    await field('name').fill('Chat');
    await field('url').fill('https://chat.example.com/hooks/whoever-knows-it');
    await page.reload();
    await noticed();
    expect(await field('name').inputValue()).toBe('Chat');
    expect(await stored()).not.toContain('whoever-knows-it');
  });

  it('is forgotten when its writer signs out on the profile', async () => {
    await page.goto(`${origin}/organizations/new`);
    await field('name').fill('Contoso');
    await page.goto(`${origin}/profile`);
    await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    expect(await stored()).toBe('{}');
  });
});

async function makeTargets(): Promise<void> {
  organization = (await root.make('/organizations', { name: 'Northwind' })).id;
  team = (await root.make(`/organizations/${organization}/teams`, { name: 'Network' })).id;
  const project = (await root.make('/projects', { name: 'Core', team_id: team })).id;
  testing = (await root.make('/environments', { name: 'Testing', project_id: project, kind: 'development' })).id;
  live = (await root.make('/environments', { name: 'Live', project_id: project, kind: 'production' })).id;
  template = (await root.make('/registry/templates', { name: 'Hello', team_id: team })).id;
  await publish('1.0.0');
}

async function publish(version: string): Promise<void> {
  await root.make(`/registry/templates/${template}/versions`, { version, spec: sayHello });
}

function runForm(instance: string, environment: string): string {
  return `${origin}/catalog/${template}/run?instance=${instance}&environment_id=${environment}`;
}

function target(): Promise<string[]> {
  return Promise.all([field('instance'), field('environment_id'), field('message')].map((each) => each.inputValue()));
}

async function noticed(): Promise<void> {
  await page.getByText('We kept what you typed.').waitFor();
}

function field(name: string): Locator {
  return page.locator(`form.form [name="${name}"]`);
}

/** What the tab holds of forms. */
function stored(): Promise<string> {
  return page.evaluate('JSON.stringify(sessionStorage)');
}
