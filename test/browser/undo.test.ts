import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testPassword } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
let browser: Browser;
let origin: string;
const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };

describe.skipIf(findBrowser() === null)('the pages of an undo, in a real browser', () => {
  beforeAll(async () => {
    [stage, browser] = await Promise.all([startUndoStage(), launchBrowser()]);
    await stage.api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(stage.api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.api.close();
  });

  it('lead from the run to its undo by keyboard alone, and follow the check and the plan', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 'old', b: 1 } });
    const run = await stage.deploy({ ...place, variables: { a: 'new', b: 1 } });
    await stage.deploy({ ...place, variables: { a: 'new', b: 2 } });
    const { page, watch } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/login`);
    await page.getByLabel('E-mail').fill(stage.tenant.owner.email);
    await page.getByLabel('Password').fill(testPassword);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/`);
    const press = async (role: 'link' | 'button', name: string) => {
      await page.getByRole(role, { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    };

    await page.goto(`${origin}/workloads/runs/${run}`);
    await press('link', 'Undo');
    await press('button', 'Check what undoing would change');
    await page.waitForURL(/\/selective-undo\//);
    await page.locator('.title-line').getByText('Checking').waitFor();
    const id = page.url().split('/').at(-1) ?? '';
    await stage.endScan((await stage.read(id)).baseline_run_id);
    await page.locator('.title-line').getByText('Can be undone').waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);

    await press('link', 'Plan');
    await press('button', 'Plan');
    await page.locator('.title-line').getByText('Planning').waitFor();
    const { body } = await stage.tenant.owner.get(`/selective-undo/${id}/candidate-checks`);
    await stage.planOnly(body.candidate_checks[0].run_id, ['thing.a', 'thing.c']);
    await stage.hear(body.candidate_checks[0].run_id);
    await page.locator('.title-line').getByText('Planned').waitFor();

    await press('link', 'Promote');
    await press('button', 'Promote');
    await page.getByRole('alert').getByText('it lacks thing.c').waitFor();
    await page.getByRole('checkbox', { name: 'thing.c' }).focus();
    await page.keyboard.press('Space');
    await press('button', 'Promote');
    await page.waitForURL(/\/workloads\/runs\/.*done=admitted/);
    await page.getByText('The run is created.').waitFor();
    // The refused promotion answers 409, which the browser reports.
    expect({ ...watch, consoleErrors: [], failed: [] }).toEqual(nothing);
    await page.close();
  });
});
