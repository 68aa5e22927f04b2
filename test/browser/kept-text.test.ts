import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sessionCookie } from '#api/edge/cookies.ts';
import { type ApiUser, startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { findBrowser, launchBrowser } from '#test/support/browser/browser.ts';
import { signInAt } from '#test/support/browser/signed-in.ts';
import { listen } from '#test/support/pages/onlookers.ts';

let api: TestApi;
let root: ApiUser;
let origin: string;
let browser: Browser;
let context: BrowserContext;
let page: Page;

const notice = 'We kept what you typed.';

describe.skipIf(findBrowser() === null)('what somebody types into a form, in a real browser', () => {
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

  it('survives a refresh, with a notice, and without the password', async () => {
    await typeUser();
    await page.reload();
    await page.getByText(notice).waitFor();
    expect(await typed()).toEqual(['Ana', 'ana@example.com', 'operator', '']);
    expect(await stored()).not.toContain('a password that is typed');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText(notice).waitFor({ state: 'detached' });
    expect((await typed()).slice(0, 2)).toEqual(['', '']);
    expect(await stored()).toBe('{}');
  });

  it('survives a refresh in a form that may hold a secret, except for the secret', async () => {
    const { id } = await root.make('/organizations', { name: 'Northwind' });
    const team = await root.make(`/organizations/${id}/teams`, { name: 'Network' });
    const project = await root.make('/projects', { name: 'Core', team_id: team.id });
    const environment = await root.make('/environments', {
      name: 'Testing',
      project_id: project.id,
      kind: 'development',
    });
    await page.goto(`${origin}/environments/${environment.id}/new-variable`);
    await field('name').fill('AWS_REGION');
    await field('value').fill('a value that may be secret');
    await page.reload();
    await page.getByText(notice).waitFor();
    expect(await field('name').inputValue()).toBe('AWS_REGION');
    expect(await field('value').inputValue()).toBe('');
    expect(await stored()).not.toContain('may be secret');
  });

  it('is forgotten once the form has been carried out', async () => {
    await page.goto(`${origin}/organizations/new`);
    await field('name').fill('Contoso');
    await page.getByRole('button', { name: /^(Create|Add)/ }).click();
    await page.waitForURL(/\/organizations\/[0-9a-f-]{36}/);
    expect(await stored()).toBe('{}');
    await page.goto(`${origin}/organizations/new`);
    expect(await field('name').inputValue()).toBe('');
  });

  it('survives that the form is refused, and a visit of the form after that', async () => {
    await typeUser();
    await field('email').fill('not an address');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.goto(`${origin}/users/new`);
    await page.getByText(notice).waitFor();
    expect(await typed()).toEqual(['Ana', 'not an address', 'operator', '']);
  });

  it('survives the end of the session: the form to sign in leads back to it', async () => {
    await typeUser();
    await context.clearCookies({ name: sessionCookie });
    await page.getByRole('button', { name: /^(Create|Add)/ }).click();
    await page.getByText('What you typed is kept, except for passwords and secrets.').waitFor();
    await page.getByLabel('E-mail address').fill(root.email);
    await page.getByLabel('Password').fill(testPassword);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/users/new`);
    await page.getByText(notice).waitFor();
    expect(await typed()).toEqual(['Ana', 'ana@example.com', 'operator', '']);
  });

  it('is not shown to somebody else who signs in', async () => {
    await typeUser();
    await context.clearCookies({ name: sessionCookie });
    await signInAt(page, origin, await api.addUser('admin'));
    await page.goto(`${origin}/users/new`);
    expect((await typed()).slice(0, 2)).toEqual(['', '']);
    expect(await stored()).toBe('{}');
  });

  it('is forgotten in every tab when its writer signs out', async () => {
    await typeUser();
    const other = await context.newPage();
    await other.goto(`${origin}/organizations`);
    await other.locator('.visitor summary').click();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByText('You are signed out.').waitFor();
    await signInAt(page, origin, root);
    expect(await stored()).toBe('{}');
    await page.goto(`${origin}/users/new`);
    expect((await typed()).slice(0, 2)).toEqual(['', '']);
  });

  it('does not replace what somebody else saved meanwhile', async () => {
    const { id } = await root.make('/organizations', { name: 'Fabrikam' });
    await page.goto(`${origin}/organizations/${id}/edit`);
    await field('name').fill('Fabrikam Limited');
    const { revision } = (await root.get(`/organizations/${id}`)).body;
    const change = { name: 'Fabrikam Group', expected_revision: revision };
    expect((await root.patch(`/organizations/${id}`, change)).status).toBe(200);
    await page.reload();
    await page.getByText(notice).waitFor();
    await page.getByRole('button', { name: /^Save/ }).click();
    await page.getByText('Another person changed this').waitFor();
    expect((await root.get(`/organizations/${id}`)).body.name).toBe('Fabrikam Group');
  });
});

async function typeUser(): Promise<void> {
  await page.goto(`${origin}/users/new`);
  await field('password').fill('a password that is typed');
  await field('email').fill('ana@example.com');
  await page.locator('[name="role"][value="operator"]').check();
  await field('name').fill('Ana');
}

function field(name: string): Locator {
  return page.locator(`form.form [name="${name}"]`);
}

function typed(): Promise<string[]> {
  const role = page.locator('[name="role"]:checked');
  return Promise.all([field('name'), field('email'), role, field('password')].map((each) => each.inputValue()));
}

/** What the tab holds of forms. */
function stored(): Promise<string> {
  return page.evaluate('JSON.stringify(sessionStorage)');
}
