import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fireSchedule } from '#domain/schedules/fire-schedule.ts';
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

/** Starts the requested work, as a worker does. */
async function fire(id: string): Promise<void> {
  const [row] = await api.rows<{ at: string }>(
    `select scheduled_at as at from schedule_firings where schedule_id = ? and outcome = 'pending'`,
    [id],
  );
  if (!row) throw new Error('nobody asked for a start');
  const deps = { ...api.services, bindingKey: api.services.installation.bindingKey };
  await fireSchedule(deps, id, new Date(row.at));
}

const idIn = (url: string) => /schedules\/([0-9a-f-]{36})/.exec(url)?.[1] ?? '';

describe.skipIf(findBrowser() === null)('the pages of schedules, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    tenant = await makeTenant(api);
    const { id } = await tenant.owner.make('/registry/templates', { name: 'Network', team_id: tenant.team });
    const step = [{ name: 'go', run: ['true'] }];
    const properties = { size: { type: 'integer', title: 'Size' }, token: { type: 'string', writeOnly: true } };
    const variables = { type: 'object', properties, required: ['size'] };
    const spec = { variables, executor: { kind: 'command', apply: step, destroy: step } };
    await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
    await tenant.owner.make('/registry/templates', { name: 'Another', team_id: tenant.team });
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  it('lead by keyboard alone to a schedule whose start and end appear without a reload', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    const choose = async (label: string, text: string) => {
      await page.getByLabel(label, { exact: true }).focus();
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    };
    await addSession(page, origin, tenant.owner);
    await page.goto(`${origin}/schedules`);
    await press(page, 'link', 'New schedule');
    await choose('Template', 'Network');
    await page.getByLabel('Size').waitFor();
    expect(await page.getByLabel('Template', { exact: true }).inputValue()).not.toBe('');
    await page.getByLabel('Name').focus();
    await page.keyboard.type('Every Monday');
    await page.getByLabel('Cron schedule').focus();
    await page.keyboard.type('0 18 * * MOON');
    const environment = page.getByLabel('Environment', { exact: true });
    await environment.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByLabel('Size').focus();
    await page.keyboard.type('3');
    await press(page, 'button', 'Create schedule');
    await page.getByRole('alert').getByText('is not a valid day of the week').waitFor();
    expect(await page.getByLabel('Size').inputValue()).toBe('3');
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Cron schedule').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('0 18 * * MON');
    await press(page, 'button', 'Create schedule');
    await page.getByText('Schedule created.').waitFor();

    await press(page, 'link', 'Start now');
    await press(page, 'button', 'Start now');
    await page.getByRole('cell', { name: 'Starting' }).waitFor();
    await fire(idIn(page.url()));
    const run = page.getByRole('cell').getByRole('link', { name: /^run …/ });
    await run.waitFor();
    const started = (await run.getAttribute('href'))?.split('/').at(-1) ?? '';
    expect((await tenant.owner.post(`/runs/${started}/cancel`)).status).toBe(202);
    await page.getByRole('cell', { name: /Cancel/ }).waitFor();
    await press(page, 'link', 'Pause');
    await press(page, 'button', 'Pause schedule');
    await page.getByText('None while the schedule is paused.').waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    // The refused form answers 400, which the browser reports.
    expect({ ...watch, consoleErrors: [], failed: [] }).toEqual(nothing);
    await page.close();
  });

  it('work without JavaScript, where a button shows the fields of the selected template', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await addSession(page, origin, tenant.owner);
    await page.goto(`${origin}/schedules/new?environment_id=${tenant.environment}`);
    await page.getByLabel('Name').fill('Every night');
    await page.getByLabel('Or an interval').fill('1d');
    await page.getByLabel('Template', { exact: true }).selectOption({ label: 'Network' });
    await press(page, 'button', 'Show the fields of this template and environment');
    await page.getByLabel('Size').fill('3');
    expect(await page.getByLabel('Name').inputValue()).toBe('Every night');
    await page.getByLabel('Message').focus();
    await page.keyboard.press('Enter');
    await page.getByText('Schedule created.').waitFor();
    await page.getByText('every day', { exact: false }).first().waitFor();
    await page.close();
  });
});
