import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { sessionCookie } from '#api/edge/cookies.ts';
import { testPassword } from '#test/support/api/in-process-api.ts';
import { findBrowser } from '#test/support/browser/browser.ts';
import { signInAt } from '#test/support/browser/signed-in.ts';
import { type SignedInPage, useSignedInPage } from '#test/support/browser/signed-in-page.ts';

let opened: SignedInPage;

const notice = 'We kept what you typed.';

describe.skipIf(findBrowser() === null)('text that a user types into a form, in a real browser', () => {
  opened = useSignedInPage();
  it('is kept after a refresh, with a notice, and without the password', async () => {
    await typeUser();
    await opened.page.reload();
    await opened.page.getByText(notice).waitFor();
    expect(await typed()).toEqual(['Ana', 'ana@example.com', 'operator', '']);
    expect(await stored()).not.toContain('a password that is typed');
    await opened.page.getByRole('button', { name: 'Discard' }).click();
    await opened.page.getByText(notice).waitFor({ state: 'detached' });
    expect((await typed()).slice(0, 2)).toEqual(['', '']);
    expect(await stored()).toBe('{}');
  });

  it('is kept after a refresh in a form that may contain a secret, except for the secret', async () => {
    const { id } = await opened.root.make('/organizations', { name: 'Northwind' });
    const team = await opened.root.make(`/organizations/${id}/teams`, { name: 'Network' });
    const project = await opened.root.make('/projects', { name: 'Core', team_id: team.id });
    const environment = await opened.root.make('/environments', {
      name: 'Testing',
      project_id: project.id,
      kind: 'development',
    });
    await opened.page.goto(`${opened.origin}/environments/${environment.id}/new-variable`);
    await field('name').fill('AWS_REGION');
    await field('value').fill('a value that may be secret');
    await opened.page.reload();
    await opened.page.getByText(notice).waitFor();
    expect(await field('name').inputValue()).toBe('AWS_REGION');
    expect(await field('value').inputValue()).toBe('');
    expect(await stored()).not.toContain('may be secret');
  });

  it('is forgotten once the form has been carried out', async () => {
    await opened.page.goto(`${opened.origin}/organizations/new`);
    await field('name').fill('Contoso');
    await opened.page.getByRole('button', { name: /^(Create|Add)/ }).click();
    await opened.page.waitForURL(/\/organizations\/[0-9a-f-]{36}/);
    expect(await stored()).toBe('{}');
    await opened.page.goto(`${opened.origin}/organizations/new`);
    expect(await field('name').inputValue()).toBe('');
  });

  it('is kept after the form is refused, and at a later visit of the form', async () => {
    await typeUser();
    await field('email').fill('not an address');
    await opened.page.keyboard.press('Enter');
    await opened.page.getByRole('alert').waitFor();
    await opened.page.goto(`${opened.origin}/users/new`);
    await opened.page.getByText(notice).waitFor();
    expect(await typed()).toEqual(['Ana', 'not an address', 'operator', '']);
  });

  it('is kept after the end of the session, and the sign-in form leads back to it', async () => {
    await typeUser();
    await opened.context.clearCookies({ name: sessionCookie });
    await opened.page.getByRole('button', { name: /^(Create|Add)/ }).click();
    await opened.page.getByText('What you typed is kept, except for passwords and secrets.').waitFor();
    await opened.page.getByLabel('E-mail address').fill(opened.root.email);
    await opened.page.getByLabel('Password').fill(testPassword);
    await opened.page.keyboard.press('Enter');
    await opened.page.waitForURL(`${opened.origin}/users/new`);
    await opened.page.getByText(notice).waitFor();
    expect(await typed()).toEqual(['Ana', 'ana@example.com', 'operator', '']);
  });

  it.each([
    ['the browser is offline', () => opened.context.setOffline(true), () => opened.context.setOffline(false)],
    [
      'a proxy answers 502 for the service',
      () => opened.context.route('**/*', (route) => route.fulfill({ status: 502, body: 'Bad gateway' })),
      () => opened.context.unroute('**/*'),
    ],
  ])('stays in the form when it is sent while %s, and can be sent afterwards', async (situation, fail, recover) => {
    await opened.page.goto(`${opened.origin}/organizations/new`);
    await field('name').fill('Contoso Offline');
    await fail();
    await opened.page.getByRole('button', { name: /^(Create|Add)/ }).click();
    await opened.page.getByText('Nothing was sent, and what you typed is still here.').waitFor();
    expect(await field('name').inputValue()).toBe('Contoso Offline');
    await recover();
    await field('name').fill(`Contoso ${situation}`);
    await opened.page.getByRole('button', { name: /^(Create|Add)/ }).click();
    await opened.page.waitForURL(/\/organizations\/[0-9a-f-]{36}/);
  });

  it('is not shown to somebody else who signs in', async () => {
    await typeUser();
    await opened.context.clearCookies({ name: sessionCookie });
    await signInAt(opened.page, opened.origin, await opened.api.addUser('admin'));
    await opened.page.goto(`${opened.origin}/users/new`);
    expect((await typed()).slice(0, 2)).toEqual(['', '']);
    expect(await stored()).toBe('{}');
  });

  it('is forgotten in every tab when its writer signs out', async () => {
    await typeUser();
    const other = await opened.context.newPage();
    await other.goto(`${opened.origin}/organizations`);
    await other.locator('.visitor summary').click();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByText('You are signed out.').waitFor();
    await signInAt(opened.page, opened.origin, opened.root);
    expect(await stored()).toBe('{}');
    await opened.page.goto(`${opened.origin}/users/new`);
    expect((await typed()).slice(0, 2)).toEqual(['', '']);
  });

  it('does not overwrite what somebody else saved meanwhile', async () => {
    const { id } = await opened.root.make('/organizations', { name: 'Fabrikam' });
    await opened.page.goto(`${opened.origin}/organizations/${id}/edit`);
    await field('name').fill('Fabrikam Limited');
    const { revision } = (await opened.root.get(`/organizations/${id}`)).body;
    const change = { name: 'Fabrikam Group', expected_revision: revision };
    expect((await opened.root.patch(`/organizations/${id}`, change)).status).toBe(200);
    await opened.page.reload();
    await opened.page.getByText(notice).waitFor();
    await opened.page.getByRole('button', { name: /^Save/ }).click();
    await opened.page.getByText('Another person changed this').waitFor();
    expect((await opened.root.get(`/organizations/${id}`)).body.name).toBe('Fabrikam Group');
  });

  it('is kept although somebody else saved another field meanwhile', async () => {
    const organization = await opened.root.make('/organizations', { name: 'Tailspin' });
    const team = await opened.root.make(`/organizations/${organization.id}/teams`, { name: 'Network' });
    const { id } = await opened.root.make('/projects', { name: 'Core', team_id: team.id });
    await opened.page.goto(`${opened.origin}/projects/${id}/edit`);
    await field('name').fill('Core network');
    expect((await opened.root.patch(`/projects/${id}`, { description: 'Theirs' })).status).toBe(200);
    await opened.page.reload();
    await opened.page.getByText(notice).waitFor();
    await opened.page.getByRole('button', { name: /^Save/ }).click();
    await opened.page.getByText('Another person changed this').waitFor();
    expect(await field('name').inputValue()).toBe('Core network');
    expect(await field('description').inputValue()).toBe('Theirs');
  });
});

async function typeUser(): Promise<void> {
  await opened.page.goto(`${opened.origin}/users/new`);
  await field('password').fill('a password that is typed');
  await field('email').fill('ana@example.com');
  await opened.page.locator('[name="role"][value="operator"]').check();
  await field('name').fill('Ana');
}

function field(name: string): Locator {
  return opened.page.locator(`form.form [name="${name}"]`);
}

function typed(): Promise<string[]> {
  const role = opened.page.locator('[name="role"]:checked');
  return Promise.all([field('name'), field('email'), role, field('password')].map((each) => each.inputValue()));
}

/** What the tab holds of forms. */
function stored(): Promise<string> {
  return opened.page.evaluate('JSON.stringify(sessionStorage)');
}
