import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { findBrowser, launchBrowser } from '#test/support/browser/browser.ts';
import { addSession } from '#test/support/browser/signed-in.ts';
import { PluginAdministrator } from '#test/support/plugins/plugin-world.ts';
import { aPlan, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let origin: string;
let browser: Browser;
let page: Page;

/** Longer than a table is wide at any width of the tests. */
const longName = `a${'b'.repeat(98)}c`;

describe.skipIf(findBrowser() === null)('the frame and the layout of pages, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    const bea = await api.addUser('admin', 'Bea');
    root = await api.addUser('admin', 'Root');
    steps = new RunSteps(api, root);
    await steps.admit({ instance: longName });
    await steps.admit({ instance: 'web' });
    await waitForApproval();
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
    page = await browser.newPage();
    await addSession(page, origin, bea);
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  it('a short page needs no scroll bar', async () => {
    await show('/organizations', 1280, 800);
    expect(await measure('[document.documentElement.scrollHeight, innerHeight]')).toEqual([800, 800]);
  });

  it('a window of 1280 px at 400 % scrolls in one direction only, and nothing in its bar overlaps', async () => {
    for (const path of ['/', '/workloads/runs', '/profile']) {
      await show(path, 320, 256);
      expect(await measure('document.documentElement.scrollWidth'), path).toBe(320);
      expect(await measure(overlaps), path).toEqual([]);
    }
  });

  it('a long name of an instance breaks, and the columns beside it stay on the page with whole words', async () => {
    await show('/workloads/runs', 1280, 800);
    const [panel, table] = (await measure(widths('.run-list', '.run-list table'))) as [number, number];
    expect(table).toBeLessThanOrEqual(panel);
    await show('/workloads/instances', 1280, 800);
    const [wide, inner] = (await measure(widths('.list-panel', '.list-panel table'))) as [number, number];
    expect(inner).toBeLessThanOrEqual(wide);
    expect(await measure(brokenWords)).toEqual([]);
  });

  it('the navigation shows all its groups in a window of 800 px without scrolling, and opens the group of the page', async () => {
    const headings = 'document.querySelectorAll(".navigation summary").length';
    for (const path of ['/', '/workloads/runs', '/environments', '/admin/webhooks', '/admin/settings/features']) {
      await show(path, 1280, 800);
      expect(await measure(headings), path).toBe(4);
      const [needed, room] = (await measure(heights('.navigation'))) as [number, number];
      expect(needed, path).toBeLessThanOrEqual(room);
      if (path !== '/') expect(await page.locator('.navigation-link[aria-current]').isVisible(), path).toBe(true);
    }
  });

  it('a closed group of the navigation opens by the keyboard, also without scripts', async () => {
    const plain = await browser.newContext({
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    });
    const still = await plain.newPage();
    await still.goto(`${origin}/workloads/runs`);
    const settings = still.getByRole('link', { name: 'Settings' });
    expect(await settings.isVisible()).toBe(false);
    await still.locator('summary', { hasText: 'Administration' }).press('Enter');
    await settings.press('Enter');
    await still.waitForURL(`${origin}/admin/settings`);
    await plain.close();
  });

  it('the search of a phone is a field over the whole width', async () => {
    await show('/workloads/runs', 390, 844);
    const [left, right] = (await measure(edges('.search input'))) as [number, number];
    expect(right - left).toBeGreaterThan(350);
  });

  it('a wide window gives its width to lists, and not to lines of text', async () => {
    await show('/workloads/runs', 2200, 1000);
    const [main, list] = (await measure(widths('main', '.run-list'))) as [number, number];
    expect(main - list).toBeLessThan(100);
    const paragraphs = `Math.max(...[...document.querySelectorAll('main p')].map((each) => each.getBoundingClientRect().width))`;
    expect(await measure(paragraphs)).toBeLessThan(800);
  });

  it('a phone shows the current tab, whichever it is', async () => {
    const plugin = await installPlugin();
    for (const tab of ['actions', 'principals', 'resources', 'releases']) {
      await show(`/admin/plugins/${plugin}?tab=${tab}`, 390, 844);
      const [left, right] = (await measure(edges('.tab[aria-current]'))) as [number, number];
      expect([left >= 0, right <= 390], tab).toEqual([true, true]);
    }
  });

  it('the reason why a button is disabled stays inside the window, wherever the button is in its row', async () => {
    const template = await steps.publish();
    await root.post(`/registry/templates/${template}/archive`);
    for (const width of [320, 390, 820, 1280]) {
      await show(`/catalog/${template}`, width, 600);
      expect(await page.locator('.tipped').count()).toBe(3);
      expect(await measure(tipsOutside), `${width} px`).toEqual([]);
    }
  });

  it('Escape closes the reason why a button is disabled, until the pointer or the focus leaves the button', async () => {
    const template = await steps.publish();
    await root.post(`/registry/templates/${template}/archive`);
    await show(`/catalog/${template}`, 1280, 600);
    const tipped = page.locator('.tipped').first();
    const isShown = () => tipped.locator('.tip').isVisible();
    const [button, title] = [tipped.locator('button'), page.locator('h1')];
    for (const [reach, leave] of [
      [() => button.hover({ force: true }), () => title.hover()],
      [() => button.focus(), () => button.blur()],
    ] as const) {
      await reach();
      expect(await isShown()).toBe(true);
      await page.keyboard.press('Escape');
      expect(await isShown()).toBe(false);
      await leave();
      await reach();
      expect(await isShown()).toBe(true);
      await leave();
    }
  });

  it('an element that is hidden is not visible in a real browser, whatever styles its component has', async () => {
    await show('/workloads/instances', 1280, 800);
    const row = page.locator('tbody tr').first();
    const id = (await row.locator('a').first().getAttribute('href'))?.split('/').at(-1);
    await show(`/workloads/instances/${id}/state`, 1280, 800);
    await page.getByLabel('State file').waitFor();
    expect(await page.locator('[data-upload-problem]').isVisible()).toBe(false);
  });

  it('a state that is refused has its problem at the field for the file', async () => {
    await show('/workloads/instances', 1280, 800);
    const id = (await page.locator('tbody tr a').first().getAttribute('href'))?.split('/').at(-1);
    await show(`/workloads/instances/${id}/state`, 1280, 800);
    const file = page.getByLabel('State file');
    for (const [content, problem] of [
      ['{"version":3}', 'In the file, “version”: expected an OpenTofu or Terraform state of format version 4.'],
      ['', 'The file is empty.'],
      ['{', /^The file is not valid JSON: /],
    ] as const) {
      await file.setInputFiles({
        name: 'terraform.tfstate',
        mimeType: 'application/json',
        buffer: Buffer.from(content),
      });
      await page.getByRole('button', { name: 'Import' }).click();
      await expect.poll(() => page.locator('#state-problem').textContent()).toMatch(problem);
      expect([await file.getAttribute('aria-invalid'), await file.getAttribute('aria-describedby')]).toEqual([
        'true',
        'state-hint state-problem',
      ]);
    }
    expect(await page.locator('[data-upload-problem]').isVisible()).toBe(false);
  });

  it("the bar counts runs that wait for the visitor while a page is open, with and without the page's own stream", async () => {
    const stream = page.waitForResponse((answer) => answer.url().includes('/runs/stream'));
    await show('/workloads/runs', 1280, 800);
    await stream;
    const inbox = page.getByRole('link', { name: /for your approval$/ });
    expect(await inbox.textContent()).toBe('1 run waits for your approval');
    await waitForApproval();
    await expect.poll(() => inbox.textContent()).toBe('2 runs wait for your approval');
    await show('/organizations', 1280, 800);
    await waitForApproval();
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await expect.poll(() => inbox.textContent()).toBe('3 runs wait for your approval');
  });
});

async function installPlugin(): Promise<string> {
  const root = await api.addUser('admin');
  const { id } = await root.make('/organizations', { name: 'Plugins' });
  return new PluginAdministrator(root).install({ organization_id: id }, { organization_id: id });
}

/** How high the contents of an element are, and how much of it shows. */
function heights(selector: string): string {
  return `(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight])(document.querySelector('${selector}'))`;
}

function edges(selector: string): string {
  return `(({ left, right }) => [left, right])(document.querySelector('${selector}').getBoundingClientRect())`;
}

/** Lets a run wait for the visitor, so that the bar has all that it can have. */
async function waitForApproval(): Promise<void> {
  const spec = { approval: { required: 1, when: 'always' } };
  const { runId, attemptId } = await steps.planning(await steps.worker('sandbox'), 'sandbox', {}, spec);
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  await steps.next({ runId, executed: attemptId });
}

async function show(path: string, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.goto(origin + path);
}

function measure(expression: string): Promise<unknown> {
  return page.evaluate(expression);
}

function widths(outer: string, inner: string): string {
  return `['${outer}', '${inner}'].map((each) => Math.round(document.querySelector(each).getBoundingClientRect().width))`;
}

/** The neighbours in the bar of which one begins before the other ends. */
const overlaps = `(() => {
  const boxes = [...document.querySelectorAll('.masthead > *')]
    .map((each) => [each.className, each.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0)
    .sort(([, one], [, other]) => one.left - other.left);
  return boxes.flatMap(([name, box], index) => boxes.slice(index + 1).flatMap(([other, { left, top, bottom }]) =>
    left < box.right - 0.5 && top < box.bottom - 0.5 && bottom > box.top + 0.5 ? [name + ' ' + other] : []));
})()`;

/** Returns the cells whose only word is broken into several lines. */
const brokenWords = `[...document.querySelectorAll('.list :is(td, th)')]
  .filter((cell) => /^[A-Za-z]{2,12}$/.test(cell.textContent.trim()))
  .filter((cell) => cell.getBoundingClientRect().height > 0 && [...cell.childNodes].some((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getClientRects().length > 1;
  }))
  .map((cell) => cell.textContent)`;

/** Returns the reasons of disabled buttons that leave the window or are too narrow. */
const tipsOutside = `['start', 'center', 'end'].flatMap((place) => [...document.querySelectorAll('.tipped')].flatMap((tipped) => {
  tipped.parentElement.style.justifyContent = place;
  tipped.querySelector('button').focus();
  const tip = tipped.querySelector('.tip');
  const { left, right, top, bottom, width } = tip.getBoundingClientRect();
  const isInside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
  return isInside && width > 150 ? [] : [[place, tip.textContent, left, right, top, bottom].join(' ')];
}))`;
