import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { addSession, press } from '#test/support/browser/signed-in.ts';

let api: TestApi;
let tenant: Tenant;
let browser: Browser;
let origin: string;
const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };

/** Types into a field, or selects an option by its first letters, without a mouse. */
async function type(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).focus();
  await page.keyboard.type(text);
}

describe.skipIf(findBrowser() === null)('the pages of variable sets, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    tenant = await makeTenant(api);
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  it('lead by keyboard alone from a new set to an environment that gets its secret', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    const environment = (await tenant.owner.get(`/environments/${tenant.environment}`)).body.name;
    await addSession(page, origin, tenant.owner);
    await page.goto(`${origin}/variable-sets`);
    await press(page, 'link', 'New variable set');
    await type(page, 'Owner', 'Team');
    await type(page, 'Name', 'aws-common');
    await press(page, 'button', 'Create variable set');
    await page.getByText('Variable set created.').waitFor();
    await press(page, 'link', 'Add a variable');
    await type(page, 'Name', 'AWS_SECRET_ACCESS_KEY');
    await type(page, 'Type', 'Environment');
    await type(page, 'Value', 'kept sealed');
    await page.getByLabel('Secret: the value cannot be read again').focus();
    await page.keyboard.press('Space');
    await press(page, 'button', 'Save');
    await page.getByText('Variable saved.').waitFor();
    await page.getByText('Secret, not shown').waitFor();
    await press(page, 'link', 'Attach');
    await page.getByRole('checkbox', { name: new RegExp(`/ ${environment}$`) }).focus();
    await page.keyboard.press('Space');
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await press(page, 'button', 'Save');
    await page.getByText('Attachments saved.').waitFor();
    await page.getByRole('cell').getByRole('link').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'From variable sets' }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'aws-common' });
    expect(await row.innerText()).toContain('AWS_SECRET_ACCESS_KEY');
    expect(await page.content()).not.toContain('kept sealed');
    expect(await findAccessibilityFaults(page)).toEqual([]);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('work without JavaScript, and delete a set', async () => {
    const { id } = await tenant.owner.make('/variable-sets', { name: 'gone', team_id: tenant.team });
    const page = await browser.newPage({ javaScriptEnabled: false });
    await addSession(page, origin, tenant.owner);
    await page.goto(`${origin}/variable-sets/${id}`);
    await press(page, 'link', 'Delete');
    await press(page, 'button', 'Delete variable set');
    await page.getByText('Variable set deleted.').waitFor();
    expect((await tenant.owner.get(`/variable-sets/${id}`)).status).toBe(404);
    await page.close();
  });
});
