import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiUser } from '#test/support/api/in-process-api.ts';
import { addAssembly, addRun, openPageStage, type PageStage, threeNodes } from '#test/support/assemblies/page-stage.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { addSession } from '#test/support/browser/signed-in.ts';
import { type RunProgress, setProgress } from '#test/support/pages/assemblies/progress.ts';

let stage: PageStage;
let owner: ApiUser;
let shop: string;
let origin: string;
let browser: Browser;

const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };
const hostile = `<img src=x onerror=alert(1)> \u202Egnirts ${'Wolfeschlegelsteinhausen'.repeat(2)}`;
const views = [
  ['light', 1280],
  ['dark', 390],
] as const;

const running: RunProgress = {
  status: 'running',
  minutesAgo: 2,
  nodes: (key) =>
    key === 'network'
      ? { status: 'running' }
      : { status: 'pending', waiting: { code: 'dependencies', nodes: ['network'] } },
};

describe.skipIf(findBrowser() === null)('the pages of assemblies, in a real browser', () => {
  beforeAll(async () => {
    [stage, browser] = await Promise.all([openPageStage(), launchBrowser()]);
    owner = stage.tenant.owner;
    shop = await addAssembly(stage, threeNodes(stage.template), { name: 'Shop' });
    // A name that was saved before such characters were refused.
    await stage.api.rows('update assemblies set name = ? where id = ?', [hostile, shop]);
    await stage.api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(stage.api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.api.close();
  });

  it('follow a run, with changing colours of nodes and without moving graph and page', async () => {
    const run = await addRun(stage, shop, running, { variables: { name: 'shop' }, message: hostile });
    const { page, watch } = await open(`/assemblies/${shop}/runs/${run}`);
    await page.locator('#graph-node-network.running').waitFor();
    await page.setViewportSize({ width: 1280, height: 400 });
    await page.evaluate('scrollTo(0, 120)');
    const place = await placeOf(page, 'check');
    await setProgress(stage.api, run, {
      ...running,
      nodes: (key) => ({ status: key === 'network' ? 'failed' : 'skipped' }),
    });
    await publishChange(run);
    await page.locator('#graph-node-network.failed').waitFor();
    await page.getByText('0 of 3 nodes succeeded').waitFor();
    expect(await placeOf(page, 'check')).toEqual(place);
    expect(await page.evaluate('scrollY')).toBe(120);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('check a draft after a pause, link to its lines, and can be entered and left by keyboard', async () => {
    const id = await addAssembly(stage, threeNodes(stage.template), { isPublished: false });
    const { page, watch } = await open(`/assemblies/${id}/draft`);
    const editor = page.getByLabel('Draft', { exact: true });
    await editor.fill('nodes:\n  one:\n    template: nothing\n');
    await page.getByRole('link', { name: 'Line 3' }).waitFor();
    await page.locator('#graph-node-one.invalid').waitFor();
    await page.getByRole('link', { name: 'Line 3' }).click();
    await page.keyboard.type('    template: ');
    await page.keyboard.press('Tab');
    expect(await editor.inputValue()).toBe('nodes:\n  one:\n    template:   \n');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toContain('Validate');
    await editor.fill(`nodes: {one: {template: ${stage.template}}}`);
    await page.getByText('Valid: it can be published').waitFor();
    await page.getByRole('button', { name: 'Save and publish…' }).click();
    await page.getByLabel('Version').fill('1.0.0');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('Version published.').waitFor();
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('let arrow keys move between the nodes of a graph', async () => {
    const run = await addRun(stage, shop);
    const runId = run;
    await setProgress(stage.api, run, { ...running, nodes: () => ({ status: 'running', runId }) });
    const { page } = await open(`/assemblies/${shop}/runs/${run}`);
    await page.locator('#graph-node-network').focus();
    await page.keyboard.press('ArrowRight');
    const first = await page.evaluate('document.activeElement?.id');
    expect(first).toMatch(/^graph-node-(service|check)$/);
    await page.keyboard.press('ArrowLeft');
    expect(await page.evaluate('document.activeElement?.id')).toBe('graph-node-network');
    await page.close();
  });

  it('say that a drawing scrolls only if it is larger than its frame', async () => {
    const { page } = await open(`/assemblies/${shop}`);
    const hint = page.getByText('Scroll inside the graph to see all of it.');
    await page.locator('#graph-node-network').waitFor();
    expect(await hint.isVisible()).toBe(false);
    await page.setViewportSize({ width: 390, height: 800 });
    await hint.waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.getByRole('region', { name: 'Graph' }).focus();
    for (let times = 0; times < 30; times += 1) await page.keyboard.press('ArrowRight');
    await expect.poll(async () => (await placeOf(page, 'check')).right).toBeLessThanOrEqual(390);
    await page.close();
  });

  it('start, cancel and write without scripts', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await signIn(page, `/assemblies/${shop}/run`);
    await page.locator('[name="v/name"]').fill('shop');
    await page.getByRole('button', { name: 'Run', exact: true }).last().click();
    await page.getByText('Run created.').waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('Cancellation requested').waitFor();
    await page.goto(`${origin}/assemblies/${shop}/draft`);
    await page.getByLabel('Draft', { exact: true }).fill('nodes: [');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('Nothing was saved.').waitFor();
    expect(await page.getByLabel('Draft', { exact: true }).inputValue()).toBe('nodes: [');
    await page.close();
  });

  it('are accessible and fit, light and dark, wide and narrow, even if hostile, empty or invalid', async () => {
    const run = await addRun(stage, shop, running, { variables: { name: 'shop' }, message: hostile });
    const wrong = await addAssembly(stage, 'nodes: {one: {template: nothing}}', { isPublished: false });
    const addresses = [
      '/assemblies',
      `/assemblies/${shop}`,
      `/assemblies/${shop}?tab=compare&from=1.0.0&to=draft`,
      `/assemblies/${shop}/run`,
      `/assemblies/${shop}/runs/${run}`,
      `/assemblies/${shop}/runs/${run}?tab=events`,
      `/assemblies/${wrong}`,
      `/assemblies/${wrong}/draft`,
      `/assemblies/${wrong}/publish`,
    ];
    const faults: unknown[] = [];
    const { page, watch } = await open('/assemblies');
    for (const address of addresses) {
      await page.goto(`${origin}${address}`);
      for (const [colorScheme, width] of views) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 800 });
        const found = await findAccessibilityFaults(page);
        if (found.length > 0) faults.push([address, colorScheme, found]);
        const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        if (Number(over) > 0) faults.push([address, width, `${over} px too wide`]);
      }
    }
    expect(faults).toEqual([]);
    expect(watch).toEqual(nothing);
    await page.close();
  });
});

/** Where a node of the drawing is in the window. */
function placeOf(page: Page, key: string): Promise<{ left: number; right: number }> {
  return page.evaluate(`(() => {
    const { left, right } = document.getElementById('graph-node-${key}').getBoundingClientRect();
    return { left, right };
  })()`);
}

/** Tells open pages that a run has changed, as its workflow does with an event. */
async function publishChange(run: string): Promise<void> {
  await stage.api.rows(
    `insert into domain_events (id, type, subject_kind, subject_id, sequence, organization_id, team_id, data, actor_id, actor_type, actor_name, created_at)
     select gen_random_uuid(), type, subject_kind, subject_id, 1000, organization_id, team_id, data, actor_id, actor_type, actor_name, now()
       from domain_events where subject_id = ? limit 1`,
    [run],
  );
}

async function open(address: string) {
  const opened = await openWatchedPage(browser, origin);
  await opened.page.setViewportSize({ width: 1280, height: 800 });
  await signIn(opened.page, address);
  return opened;
}

async function signIn(page: Page, address: string): Promise<void> {
  await addSession(page, origin, owner);
  await page.goto(origin + address);
}
