import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { findBrowser } from '#test/support/browser/browser.ts';
import { type SignedInPage, useSignedInPage } from '#test/support/browser/signed-in-page.ts';

let opened: SignedInPage;
let organization: string;
let team: string;
let template: string;
let testing: string;
let live: string;

describe.skipIf(findBrowser() === null)('text that is typed into a form for one target, in a real browser', () => {
  opened = useSignedInPage();
  beforeAll(makeTargets);

  it('is not filled into the form of the same page for another target', async () => {
    await opened.page.goto(runForm('a', live));
    await field('message').fill('tidy up');
    await opened.page.goto(runForm('b', testing));
    expect(await target()).toEqual(['b', testing, '']);
    await opened.page.goto(`${runForm('a', live)}&done=saved`);
    await noticed();
    await expect.poll(() => field('message').inputValue()).toBe('tidy up');
    expect(await target()).toEqual(['a', live, 'tidy up']);
  });

  it('does not change a field that the address sets', async () => {
    await opened.page.goto(runForm('a', live));
    await field('instance').fill('another');
    await field('message').fill('tidy up');
    await opened.page.reload();
    await opened.page.getByText('Fields that the address of this page sets are as it says.').waitFor();
    await expect.poll(() => field('message').inputValue()).toBe('tidy up');
    expect(await target()).toEqual(['a', live, 'tidy up']);
  });

  it('does not change a field of the work of a schedule that the address sets', async () => {
    const environment = 'work.run.environment_id';
    await opened.page.goto(`${opened.origin}/schedules/new?environment_id=${live}`);
    await field(environment).selectOption(testing);
    await field('name').fill('Nightly');
    await opened.page.reload();
    await opened.page.getByText('Fields that the address of this page sets are as it says.').waitFor();
    await expect.poll(() => field('name').inputValue()).toBe('Nightly');
    expect(await field(environment).inputValue()).toBe(live);
  });

  it('is not filled into the policy of another environment', async () => {
    const policy = `${opened.origin}/organizations/${organization}/teams/${team}/setup/policy?environment_id=`;
    const box = opened.page.locator('[name="approval_policy.allow_self"]');
    await opened.page.goto(policy + testing);
    await box.check();
    await opened.page.goto(policy + live);
    expect(await box.isChecked()).toBe(false);
    await opened.page.goto(policy + testing);
    await noticed();
    expect(await box.isChecked()).toBe(true);
  });

  it('is discarded with a notice once the form is about something else', async () => {
    await opened.page.goto(`${opened.origin}/catalog/${template}/publish`);
    await field('changelog').fill('What is new');
    await publish('1.1.0');
    await opened.page.reload();
    await opened.page.getByText('What this form is about has changed').waitFor();
    expect(await field('changelog').inputValue()).toBe('');
    expect(await stored()).toBe('{}');
  });

  it('is forgotten after a day', async () => {
    await opened.page.goto(`${opened.origin}/organizations/new`);
    await field('name').fill('Contoso');
    await opened.page.goto(`${opened.origin}/organizations`);
    expect(await stored()).toContain('Contoso');
    const aDayAgo = Date.now() - 24 * 60 * 60 * 1000 - 1;
    await opened.page.evaluate(`for (const [key, text] of Object.entries(sessionStorage))
      sessionStorage.setItem(key, JSON.stringify({ ...JSON.parse(text), at: ${aDayAgo} }))`);
    await opened.page.goto(`${opened.origin}/organizations/new`);
    expect(await field('name').inputValue()).toBe('');
    expect(await stored()).toBe('{}');
  });

  it('is forgotten when its writer cancels', async () => {
    await opened.page.goto(`${opened.origin}/organizations/new`);
    await field('name').fill('Contoso');
    await opened.page.getByRole('link', { name: 'Cancel' }).click();
    await opened.page.waitForURL(`${opened.origin}/organizations`);
    expect(await stored()).toBe('{}');
  });

  it('is not kept if it confirms what the form does', async () => {
    await opened.page.goto(`${opened.origin}/organizations/${organization}/transfer`);
    await field('confirmation').fill('Northwind');
    await opened.page.reload();
    expect(await field('confirmation').inputValue()).toBe('');
    expect(await stored()).not.toContain('Northwind');
  });

  it('is kept without the secret address of a webhook', async () => {
    await opened.page.goto(`${opened.origin}/admin/webhooks/new`);
    await field('name').fill('Chat');
    await field('url').fill('https://chat.example.com/hooks/whoever-knows-it');
    await opened.page.reload();
    await noticed();
    expect(await field('name').inputValue()).toBe('Chat');
    expect(await stored()).not.toContain('whoever-knows-it');
  });

  it('is forgotten when its writer signs out on the profile', async () => {
    await opened.page.goto(`${opened.origin}/organizations/new`);
    await field('name').fill('Contoso');
    await opened.page.goto(`${opened.origin}/profile`);
    await opened.page.getByRole('main').getByRole('button', { name: 'Sign out' }).click();
    await opened.page.getByText('You are signed out.').waitFor();
    expect(await stored()).toBe('{}');
  });
});

async function makeTargets(): Promise<void> {
  organization = (await opened.root.make('/organizations', { name: 'Northwind' })).id;
  team = (await opened.root.make(`/organizations/${organization}/teams`, { name: 'Network' })).id;
  const project = (await opened.root.make('/projects', { name: 'Core', team_id: team })).id;
  testing = (await opened.root.make('/environments', { name: 'Testing', project_id: project, kind: 'development' })).id;
  live = (await opened.root.make('/environments', { name: 'Live', project_id: project, kind: 'production' })).id;
  template = (await opened.root.make('/registry/templates', { name: 'Hello', team_id: team })).id;
  await publish('1.0.0');
}

async function publish(version: string): Promise<void> {
  await opened.root.make(`/registry/templates/${template}/versions`, { version, spec: sayHello });
}

function runForm(instance: string, environment: string): string {
  return `${opened.origin}/catalog/${template}/run?instance=${instance}&environment_id=${environment}`;
}

function target(): Promise<string[]> {
  return Promise.all([field('instance'), field('environment_id'), field('message')].map((each) => each.inputValue()));
}

async function noticed(): Promise<void> {
  await opened.page.getByText('We kept what you typed.').waitFor();
}

function field(name: string): Locator {
  return opened.page.locator(`form.form [name="${name}"]`);
}

/** What the tab holds of forms. */
function stored(): Promise<string> {
  return opened.page.evaluate('JSON.stringify(sessionStorage)');
}
