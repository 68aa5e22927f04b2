import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { addSession } from '#test/support/browser/signed-in.ts';
import { executing, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let worker: string;
let origin: string;
let browser: Browser;

const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };
/** Runs inside the page, before its own scripts. It ignores small layout shifts, which parts of the bar cause while they load. */
const watchShifts = `(() => {
  window.shifts = [];
  const name = ({ node }) => node?.id || node?.className || node?.nodeName;
  new PerformanceObserver((list) => list.getEntries().forEach(({ value, sources }) => {
    if (value > 0.005) window.shifts.push(value.toFixed(3) + ' ' + sources.map(name).join(', '));
  })).observe({ type: 'layout-shift', buffered: true });
})()`;
const hostile = `<img src=x onerror=alert(1)> \u202Egnirts ${'Wolfeschlegelsteinhausen'.repeat(8)}`;

describe.skipIf(findBrowser() === null)('the pages of runs, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    root = await api.addUser('admin', 'Root');
    steps = new RunSteps(api, root);
    worker = await steps.worker('sandbox');
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  it('follow a run, with status, title and steps, and keep typed text and focus', async () => {
    const runId = await steps.admit();
    const { page, watch } = await open(`/workloads/runs/${runId}?tab=details`);
    expect(await page.title()).toMatch(/^Queued: Apply: /);
    await page.getByText('Write a comment').click();
    await page.getByLabel('Comment', { exact: true }).fill('half a thou');
    const attempt = executing(await steps.next({ runId }));
    await page.locator('.title-line').getByText('Running').waitFor();
    expect(await page.title()).toMatch(/^Running: Apply: /);
    expect(await page.getByLabel('Comment', { exact: true }).inputValue()).toBe('half a thou');
    await page.keyboard.type('ght');
    expect(await page.getByLabel('Comment', { exact: true }).inputValue()).toBe('half a thought');
    await steps.claim(attempt, worker, 'sandbox');
    await steps.complete(attempt, { outcome: 'unchanged' });
    await steps.next({ runId, executed: attempt });
    await page.locator('.title-line').getByText('Succeeded').waitFor();
    await page.getByRole('link', { name: 'Run again', exact: true }).waitFor();
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('show new runs only after a link, and update the status of visible runs', async () => {
    const first = await steps.admit({ message: 'first' });
    const { page, watch } = await open('/workloads/runs');
    const row = page.locator(`#run-${first}`);
    await row.getByText('Queued').waitFor();
    const second = await steps.admit();
    await page.getByRole('link', { name: '1 new – show' }).waitFor();
    expect(await page.locator(`#run-${second}`).count()).toBe(0);
    await steps.next({ runId: first });
    await row.getByText('Running').waitFor();
    await page.getByRole('link', { name: '1 new – show' }).click();
    await page.locator(`#run-${second}`).waitFor();
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it("continue to follow after the visitor's rights have changed, without console errors", async () => {
    const runId = await steps.admit();
    const { page, watch } = await open('/workloads/runs');
    const streams: string[] = [];
    page.on('response', (answer) => {
      if (answer.url().includes('/workloads/runs/stream')) streams.push(answer.url());
    });
    await page.reload();
    await expect.poll(() => streams.length).toBe(1);
    expect((await root.post('/organizations', { name: 'Another' })).status).toBe(201);
    await expect.poll(() => streams.length).toBe(2);
    await steps.next({ runId });
    await page.locator(`#run-${runId}`).getByText('Running').waitFor();
    expect(await page.locator('#live-note').isVisible()).toBe(false);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('cancel a run by keyboard alone, with a reason that the page then shows', async () => {
    const runId = await steps.admit();
    const { page, watch } = await open(`/workloads/runs/${runId}`);
    await page.getByRole('link', { name: 'Cancel', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Reason').focus();
    await page.keyboard.type('Not today');
    await page.keyboard.press('Enter');
    await page.getByText('Cancellation requested.').waitFor();
    await page.locator('.title-line').getByText('Canceling').waitFor();
    expect(await page.getByText('Not today').count()).toBeGreaterThan(0);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('filter, open and comment without scripts', async () => {
    const runId = await steps.admit();
    const page = await browser.newPage({ javaScriptEnabled: false });
    await signIn(page, '/workloads/runs');
    await page.getByText('Filters', { exact: true }).click();
    await page.getByLabel('Failed').check();
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No matching runs').waitFor();
    await page.getByRole('link', { name: 'Show all runs' }).click();
    await page.locator(`#run-${runId} a`).first().click();
    await page.getByRole('link', { name: 'Details' }).click();
    await page.getByText('Write a comment').click();
    await page.getByLabel('Comment', { exact: true }).fill('Without scripts');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await page.locator('.talk').getByText('Without scripts').waitFor();
    await page.close();
  });

  it('have no accessibility violation and fit, with hostile content, in both schemes and widths', async () => {
    const { runId } = await steps.planned(worker, 'sandbox', { message: hostile });
    await root.post(`/runs/${runId}/comments`, { text: hostile });
    const paths = [
      '/workloads/runs',
      '/workloads/runs?operation=destroy',
      '/workloads/runs?status=burned',
      ...['plan', 'events', 'details'].map((tab) => `/workloads/runs/${runId}?tab=${tab}`),
      `/workloads/runs/${runId}/cancel`,
      '/workloads/runs/019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11',
    ];
    const { page, watch } = await open('/workloads/runs');
    // `npm run test:pages` looks at every page in every width and both colours.
    const looks = [
      ['light', 1280],
      ['dark', 390],
    ] as const;
    for (const path of paths) {
      await page.goto(origin + path);
      for (const [colorScheme, width] of looks) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 800 });
        expect(await findAccessibilityFaults(page), `${path} ${colorScheme} ${width}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width);
      }
    }
    expect({ ...watch, consoleErrors: [], failed: [] }).toEqual(nothing);
    await page.close();
  });

  it('do not move after loading, because times and shortcut keys are rendered in place', async () => {
    const { body } = await root.get('/runs?scope=readable&limit=1');
    const runId = body.runs[0].id;
    for (const width of [1280, 390]) {
      const page = await browser.newPage({ timezoneId: 'Asia/Kathmandu', viewport: { width, height: 800 } });
      await addSession(page, origin, root);
      await page.addInitScript(watchShifts);
      for (const path of [`/workloads/runs/${runId}?tab=plan`, '/workloads/runs']) {
        await page.goto(origin + path, { waitUntil: 'load' });
        await page.waitForTimeout(300);
        expect(await page.evaluate('window.shifts'), `${path} ${width}`).toEqual([]);
      }
      await page.close();
    }
  });

  it("show times in the visitor's time zone or in UTC, as the service writes them", async () => {
    const { body } = await root.get('/runs?scope=readable&limit=1');
    const runId = body.runs[0].id;
    await api.rows("update runs set created_at = '2026-09-03T21:07:00Z' where id = ?", [runId]);
    const page = await browser.newPage({ timezoneId: 'Asia/Kathmandu' });
    await addSession(page, origin, root);
    await page.goto(`${origin}/workloads/runs/${runId}?tab=events`);
    const time = page.locator('.run-brief time');
    expect(await time.textContent()).toBe('4 Sept 2026, 02:52');
    await time.hover();
    expect(await time.getAttribute('title')).toMatch(/^Friday,? 4 September 2026 at 02:52:00 GMT\+5:45$/);
    await page.locator('.visitor summary').click();
    await page.getByRole('button', { name: 'Show times in' }).click();
    expect(await time.textContent()).toBe('3 Sept 2026, 21:07 UTC');
    const session = await page.context().storageState();
    const plain = await browser.newPage({ javaScriptEnabled: false, storageState: session });
    await plain.goto(`${origin}/workloads/runs/${runId}?tab=events`);
    expect(await plain.locator('.run-brief time').textContent()).toBe('3 Sept 2026, 21:07 UTC');
    await Promise.all([page.close(), plain.close()]);
  });
});

async function signIn(page: Page, path: string): Promise<void> {
  await addSession(page, origin, root);
  await page.goto(origin + path);
}

async function open(path: string): Promise<{ page: Page; watch: PageWatch }> {
  const opened = await openWatchedPage(browser, origin);
  await signIn(opened.page, path);
  return opened;
}
