import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { addSession, press } from '#test/support/browser/signed-in.ts';
import { changed, type DriftStage, makeDriftStage } from '#test/support/drift/drift-stage.ts';

let stage: DriftStage;
let browser: Browser;
let origin: string;
const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };
const drift = [changed({ input: 'a', size: 1 }, { input: 'b', size: 2 })];

/** Ends the requested scan, as a worker does. */
async function endScan(monitor: string): Promise<void> {
  const { body } = await stage.tenant.owner.get(`/drift-monitors/${monitor}`);
  const run = body.scan_run_id as string;
  await stage.execute(
    `insert into run_plans (run_id, digest, executor_digest, changes, state_serial, created_at) values (?, '', '', ?, 1, now())`,
    [run, JSON.stringify(drift)],
  );
  await stage.execute(
    `update runs set status = 'succeeded', phase = 'finished', waiting_on = null, finished_at = now() where id = ?`,
    [run],
  );
  await stage.record(run);
}

const monitorOf = (page: Page) => /monitors\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? '';

describe.skipIf(findBrowser() === null)('the pages of drift, in a real browser', () => {
  beforeAll(async () => {
    const [api, opened] = await Promise.all([startApi(), launchBrowser()]);
    browser = opened;
    stage = await makeDriftStage(api);
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.api.close();
  });

  it('lead by keyboard alone from a new monitor to its findings, which appear when the scan ends', async () => {
    const { instance } = await stage.deploy();
    const { body } = await stage.tenant.owner.get(`/instances/${instance}`);
    const { page, watch } = await openWatchedPage(browser, origin);
    await addSession(page, origin, stage.tenant.owner);
    await page.goto(`${origin}/drift`);
    await page.getByText('There is no monitor yet').waitFor();
    await press(page, 'link', 'New monitor');
    const choice = page.getByLabel('Instance', { exact: false }).first();
    await choice.focus();
    const label = (await choice.locator('option', { hasText: body.name }).textContent()) ?? '';
    await page.keyboard.type(label);
    await press(page, 'button', 'Create monitor');
    await page.getByText('Monitor created.').waitFor();
    await page.getByText('No scan has run yet.').waitFor();
    await press(page, 'link', 'Scan now');
    await press(page, 'button', 'Scan now');
    await page.locator('.title-line').getByText('Scanning').waitFor();
    const monitor = monitorOf(page);
    await endScan(monitor);
    await page.locator('.title-line').getByText('Drifted').waitFor();
    await page.getByRole('checkbox', { name: 'Choose size of terraform_data.a' }).waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('keep checked boxes while they follow another scan', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, drift);
    const { page } = await openWatchedPage(browser, origin);
    await addSession(page, origin, stage.tenant.owner);
    await page.goto(`${origin}/drift/monitors/${watched.monitor}`);
    const tick = page.getByRole('checkbox', { name: 'Choose size of terraform_data.a' });
    await tick.focus();
    await page.keyboard.press('Space');
    await stage.scan(watched, drift);
    await page.getByText('Seen by 2 scans').first().waitFor();
    expect(await tick.isChecked()).toBe(true);
    await press(page, 'button', 'Suppress selected');
    await page.getByText('You accept the current value of one finding.').waitFor();
    await page.close();
  });

  it('suppress, reopen and remedy a finding by keyboard alone', async () => {
    const watched = await stage.watched();
    await stage.scan(watched, drift);
    const [finding] = await stage.findings(`monitor_id=${watched.monitor}`);
    const { page, watch } = await openWatchedPage(browser, origin);
    await addSession(page, origin, stage.tenant.owner);
    await page.goto(`${origin}/drift/findings/${finding?.id}`);
    await press(page, 'link', 'Suppress');
    await page.getByLabel('Reason').focus();
    await page.keyboard.type('We know.');
    await press(page, 'button', 'Suppress');
    await page.getByText('Finding suppressed.').waitFor();
    await page.getByText('We know.').waitFor();
    await press(page, 'link', 'Reopen');
    await page.getByLabel('Reason').focus();
    await page.keyboard.type('We do not.');
    await press(page, 'button', 'Reopen');
    await page.getByText('Finding reopened.').waitFor();
    await press(page, 'link', 'Remediate');
    await page.getByRole('radio').first().focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('radio', { name: /Adopt/ }).isChecked()).toBe(true);
    await press(page, 'button', 'Request the run');
    await page.waitForURL(/\/workloads\/runs\//);
    await page.getByText('Refresh').first().waitFor();
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('work without JavaScript', async () => {
    const { instance } = await stage.deploy();
    const page = await browser.newPage({ javaScriptEnabled: false });
    await addSession(page, origin, stage.tenant.owner);
    await page.goto(`${origin}/drift/monitors/new?instance_id=${instance}`);
    await press(page, 'button', 'Create monitor');
    await press(page, 'link', 'Scan now');
    await press(page, 'button', 'Scan now');
    await page.getByText('Scan requested.').waitFor();
    const monitor = monitorOf(page);
    await endScan(monitor);
    await page.reload();
    await page.getByRole('checkbox').first().focus();
    await page.keyboard.press('Space');
    await press(page, 'button', 'Suppress selected');
    await page.getByLabel('Reason').fill('We know.');
    await press(page, 'button', 'Suppress');
    await page.getByText('Findings suppressed.').waitFor();
    await page.goto(`${origin}/drift/monitors/${monitor}?status=suppressed`);
    expect(await page.getByText('Suppressed', { exact: true }).count()).toBeGreaterThan(1);
    await page.close();
  });
});
