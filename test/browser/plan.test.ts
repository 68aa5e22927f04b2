import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { addSession } from '#test/support/browser/signed-in.ts';
import { change, PendingRuns } from '#test/support/runs/pending-runs.ts';

let api: TestApi;
let runs: PendingRuns;
let rita: ApiUser;
let sam: ApiUser;
let origin: string;
let browser: Browser;

const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };
const hostile = `<img src=x onerror=alert(1)> \u202Egnirts ${'Wolfeschlegelsteinhausen'.repeat(8)}`;
/** The tests look at each page in the first two variants, and at the most important page in all. */
const views = [
  ['light', 1280],
  ['dark', 390],
  ['light', 390],
  ['dark', 1280],
] as const;
const few = [
  change('create', 'thing.added', null, { name: 'x' }),
  change('update', 'thing.changed', { size: 1, kept: 'k' }, { size: 2, kept: 'k' }),
  change('update', 'thing.other', { text: 'a\nb\nc' }, { text: 'a\nB\nc' }),
  change('delete', 'thing.gone', { name: 'x' }, null),
];

describe.skipIf(findBrowser() === null)('the plan, its review and the inbox, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    runs = await PendingRuns.start(api);
    [rita, sam] = runs.reviewers as [ApiUser, ApiUser];
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  it('lead from the request over the review to the log by keyboard alone', async () => {
    const run = await runs.add(few);
    const asking = await open(runs.asker, `/workloads/runs/${run}`);
    await pressTabUntil(asking.page, 'Ask for a review');
    await asking.page.keyboard.press('Enter');
    await asking.page.getByRole('heading', { name: 'Ask for a review' }).waitFor();
    await asking.page.waitForLoadState();
    await pressTabUntil(asking.page, 'Rita Reviewer');
    await asking.page.keyboard.press('Space');
    await pressTabUntil(asking.page, 'Ask for a review');
    await asking.page.keyboard.press('Enter');
    await asking.page.getByText('Review requested.').waitFor();
    const { page, watch } = await open(rita, '/workloads/approvals');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Plan: 1 destroy · 2 change · 1 add' }).waitFor();
    // Keys work once the scripts of the page have run.
    await page.waitForLoadState();
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await page.keyboard.press('e');
    await page.locator('#r-2').getByText('becomes').waitFor();
    await pressTabUntil(page, 'Comment with your review');
    await page.keyboard.type('read it all');
    await pressTabUntil(page, 'Approve (1 more must follow)');
    await page.keyboard.press('Enter');
    await page.getByText('You approved this plan.').waitFor();
    expect(await page.evaluate('document.activeElement.className')).toContain('after-review');
    expect(await page.evaluate('location.search')).not.toContain('reviewed');
    await page.waitForLoadState();
    await page.keyboard.press('2');
    await page.waitForURL(/tab=log/);
    expect((await readReviews(run)).map(({ comment }) => comment)).toEqual(['read it all']);
    expect([watch, asking.watch]).toEqual([nothing, nothing]);
    await Promise.all([page.close(), asking.page.close()]);
  });

  it('record one review if Approve is clicked twice', async () => {
    const run = await runs.add(few);
    const { page, watch } = await open(rita, `/workloads/runs/${run}?tab=plan`);
    await page.getByRole('button', { name: 'Approve (1 more must follow)' }).dblclick();
    await page.getByText('You approved this plan.').waitFor();
    expect(await readReviews(run)).toHaveLength(1);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('keep what is typed and opened while others review, and remove Approve once there is a new plan', async () => {
    const run = await runs.add(few);
    const { page, watch } = await open(rita, `/workloads/runs/${run}?tab=plan`);
    await page.locator('#r-2 > summary').click();
    await page.getByLabel('Comment with your review').fill('half a thou');
    const { plan } = (await sam.get(`/runs/${run}`)).body;
    await sam.post(`/runs/${run}/approval/review`, { decision: 'approve', plan_digest: plan.digest });
    await page.getByText('1 of 2 approvals.').waitFor();
    await page.getByRole('button', { name: 'Approve and apply' }).waitFor();
    await page.keyboard.type('ght');
    expect(await page.getByLabel('Comment with your review').inputValue()).toBe('half a thought');
    expect(await page.locator('#r-2').getAttribute('open')).not.toBeNull();
    await runs.movePlan(run);
    await page.getByRole('heading', { name: 'The plan changed – review again' }).waitFor();
    expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Review the new plan' }).click();
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('can be read and decided without scripts', async () => {
    const run = await runs.add(few);
    const page = await browser.newPage({ javaScriptEnabled: false });
    await signIn(page, sam, '/workloads/approvals');
    await page.locator(`#run-${run} a`).first().click();
    await page.getByRole('link', { name: '1 destroy' }).click();
    await page.getByText('Showing 1 of 1 matching').waitFor();
    await page.locator('#r-1 > summary').click();
    await page.getByRole('link', { name: 'Show it whole' }).click();
    await page.getByRole('link', { name: 'Back to the plan and its review' }).click();
    await page.getByLabel('Comment with your review').fill('Not in this release');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('You rejected this plan.').waitFor();
    await page.close();
  });

  it('open the change that a link names, on whichever page it is, and all of them for print', async () => {
    const many = Array.from({ length: 250 }, (_, index) =>
      change('update', `thing.n${index}`, { n: index }, { n: -1 }),
    );
    const run = await runs.add(many);
    const { page, watch } = await open(rita, `/workloads/runs/${run}?tab=plan`);
    await page.goto(`${origin}/workloads/runs/${run}?tab=plan#r-230`);
    await page.waitForURL(/after=200/);
    await page.locator('#r-230[open]').waitFor();
    await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
    expect(await page.locator('details.plan-change[open]').count()).toBe(50);
    await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`);
    expect(await page.locator('details.plan-change[open]').count()).toBe(1);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('show in the open inbox that another run waits, without moving its rows', async () => {
    const { page, watch } = await open(rita, '/workloads/approvals');
    const rows = await page.locator('[data-row]').count();
    await runs.add(few);
    await page.getByText(/1 new –/).waitFor();
    expect(await page.locator('[data-row]').count()).toBe(rows);
    await page.getByRole('link', { name: 'show', exact: true }).click();
    await expect.poll(() => page.locator('[data-row]').count()).toBe(rows + 1);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('have no accessibility violation and fit, with hostile content, in both schemes and widths', async () => {
    const run = await runs.add(
      [
        ...few,
        change(
          'update',
          `thing["${hostile}"]`,
          { [hostile]: hostile, text: `a\n${hostile}` },
          { [hostile]: 'x', text: 'b\n' },
        ),
        change('delete', 'x'.repeat(3000), { list: [hostile] }, null),
      ],
      { message: hostile },
    );
    const planning = await runs.begin();
    const paths = [
      `/workloads/runs/${run}?tab=plan`,
      `/workloads/runs/${run}?tab=plan&change=2`,
      `/workloads/runs/${run}?tab=plan&digest=other`,
      `/workloads/runs/${run}?tab=plan&q=nothing`,
      `/workloads/runs/${run}?tab=plan&kind=burn`,
      `/workloads/runs/${run}?tab=plan&reviewed=approved`,
      `/workloads/runs/${planning.runId}?tab=plan`,
      '/workloads/approvals',
      '/workloads/approvals?asked=true',
    ];
    const { page, watch } = await open(rita, '/workloads/approvals');
    for (const path of paths) {
      await page.goto(origin + path);
      await page.evaluate(`for (const each of document.querySelectorAll('main details')) each.open = true`);
      for (const [colorScheme, width] of path === paths[0] ? views : views.slice(0, 2)) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 800 });
        expect(await findAccessibilityFaults(page), `${path} ${colorScheme} ${width}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width);
      }
    }
    const failed = [expect.stringMatching(/^400 .*kind=burn/)];
    expect({ ...watch, consoleErrors: [] }).toEqual({ ...nothing, failed });
    await page.close();
  }, 120_000);
});

async function readReviews(run: string): Promise<{ comment: string }[]> {
  return (await runs.asker.get(`/runs/${run}`)).body.approval.reviews;
}

/** Moves the focus until it is on something with this accessible name. */
async function pressTabUntil(page: Page, name: string): Promise<void> {
  const nameOfFocus = () =>
    page.evaluate(`(() => {
      const focus = document.activeElement;
      return (focus?.labels?.[0]?.textContent ?? focus?.textContent ?? '').trim();
    })()`);
  for (let pressed = 0; pressed < 150; pressed += 1) {
    await page.keyboard.press('Tab');
    const focused = String(await nameOfFocus());
    if (focused === name || focused.startsWith(`${name} `)) return;
  }
  throw new Error(`the focus never came to "${name}"`);
}

async function signIn(page: Page, user: ApiUser, path: string): Promise<void> {
  await addSession(page, origin, user);
  await page.goto(origin + path);
}

async function open(user: ApiUser, path: string): Promise<{ page: Page; watch: PageWatch }> {
  const opened = await openWatchedPage(browser, origin);
  await signIn(opened.page, user, path);
  return opened;
}
