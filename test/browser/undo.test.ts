import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { addSession } from '#test/support/browser/signed-in.ts';
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

  it('lead from the run to its undo with three key presses, and continue from check to plan automatically', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 'old', b: 1 } });
    const run = await stage.deploy({ ...place, variables: { a: 'new', b: 1 } });
    await stage.deploy({ ...place, variables: { a: 'new', b: 2 } });
    const { page, watch } = await openWatchedPage(browser, origin);
    await addSession(page, origin, stage.tenant.owner);
    const press = async (role: 'link' | 'button', name: string) => {
      await page.getByRole(role, { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    };

    await page.goto(`${origin}/workloads/runs/${run}`);
    await press('link', 'Undo this change');
    await press('button', 'Check and plan');
    await page.waitForURL(/\/selective-undo\//);
    await page.locator('.title-line').getByText('Checking').waitFor();
    const id = page.url().split('/').at(-1) ?? '';
    await stage.endScan((await stage.read(id)).baseline_run_id);
    await page.locator('.title-line').getByText('Planning').waitFor();
    await page.getByRole('heading', { name: 'Undo: Change a of', level: 1 }).waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    const { body } = await stage.tenant.owner.get(`/selective-undo/${id}/candidate-checks`);
    await stage.planOnly(body.candidate_checks[0].run_id, ['thing.a', 'thing.c']);
    await stage.hear(body.candidate_checks[0].run_id);
    await page.locator('.title-line').getByText('Ready to confirm').waitFor();
    await page.getByRole('heading', { name: 'Plan: 2 change' }).waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);

    await press('button', 'Undo this change');
    await page.getByRole('alert').getByText('it lacks thing.c').waitFor();
    await page.getByRole('checkbox', { name: 'thing.c' }).focus();
    await page.keyboard.press('Space');
    await press('button', 'Undo this change');
    await page.waitForURL(/\/workloads\/runs\/[0-9a-f-]{36}/);
    await page.getByText('Run created.').waitFor();
    // The refused promotion answers 409, which the browser reports.
    expect({ ...watch, consoleErrors: [], failed: [] }).toEqual(nothing);
    await page.close();
  });

  it('try only once to plan a checked undo, and keep the button if the plan is refused', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 'old' } });
    const run = await stage.deploy({ ...place, variables: { a: 'new' } });
    const { page } = await openWatchedPage(browser, origin);
    await addSession(page, origin, stage.tenant.owner);
    const { id } = await stage.checked(run);
    let tries = 0;
    await page.route('**/plan', (route) => {
      tries += 1;
      return route.fulfill({ status: 429, body: 'later' });
    });
    await page.goto(`${origin}/selective-undo/${id}`);
    await page.waitForTimeout(7000);
    expect(tries).toBe(1);
    await page.unroute('**/plan');
    await page.getByRole('button', { name: 'Plan the undo' }).click();
    await page.locator('.title-line').getByText('Planning').waitFor();
    await page.close();
  });
});
