import type { CDPSession, Page } from 'playwright-core';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Sample } from '../report/statistics.ts';
import type { Stage } from './stage.ts';

const megabit = 1_000_000 / 8;

/** A slow laptop at home: a quarter of this machine's speed, and 10 Mbit/s with 40 ms. */
export async function slowDown(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 40,
    downloadThroughput: 10 * megabit,
    uploadThroughput: 10 * megabit,
  });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  return devtools;
}

/** Watches from the beginning of each page what Core Web Vitals are made of. */
const observe = `(() => {
  const vitals = (window.measured = { lcp: 0, cls: 0, inp: 0 });
  const watch = (type, more, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...more });
  watch('largest-contentful-paint', {}, (entry) => { vitals.lcp = entry.startTime; });
  watch('layout-shift', {}, (entry) => { if (!entry.hadRecentInput) vitals.cls += entry.value; });
  watch('event', { durationThreshold: 16 }, (entry) => { if (entry.interactionId) vitals.inp = Math.max(vitals.inp, entry.duration); });
})()`;

/** Largest contentful paint, layout shift and the slowest interaction of the pages that people use most. */
export async function measureVitals({ browser, onlookers, seeded }: Stage): Promise<Sample> {
  const state = await (await onlookers.at('reviewer')).page.context().storageState();
  const addresses = {
    runs: pagePath(pages.runs),
    run: pagePath(pages.run, { id: seeded.runs.needsApproval.id }),
  };
  const sample: Record<string, number> = {};
  for (const [name, address] of Object.entries(addresses)) {
    const context = await browser.newContext({ storageState: state, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.addInitScript(observe);
    await slowDown(page);
    await page.goto(`${onlookers.origin}${address}`, { waitUntil: 'load' });
    await interact(page);
    const { lcp, cls, inp } = await page.evaluate<{ lcp: number; cls: number; inp: number }>('window.measured');
    Object.assign(sample, { [`${name}: LCP`]: lcp, [`${name}: CLS`]: cls, [`${name}: INP`]: inp });
    await context.close();
  }
  return sample;
}

/** What people do first: step through rows, open and close what can be opened, and open a menu. */
async function interact(page: Page): Promise<void> {
  await page.waitForTimeout(500);
  for (const key of ['j', 'j', 'k', '?', 'Escape', 'n', 'n']) await page.keyboard.press(key);
  for (const summary of await page
    .locator('summary:visible')
    .all()
    .then((all) => all.slice(0, 4))) {
    await summary.click({ timeout: 5_000 });
    await page.keyboard.press('Escape');
  }
  await page.waitForTimeout(500);
}
