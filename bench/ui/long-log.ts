import type { Page } from 'playwright-core';
import { pagePath, pages } from '#api/web/paths.ts';
import { percentile, type Sample } from '../report/statistics.ts';
import type { Stage } from './stage.ts';
import { waitInPage } from './wait-in-page.ts';

/** What reads the log: the first lines, a jump into the middle, scrolling, and the memory that the page needs. */
export async function measureLongLog({ onlookers, seeded }: Stage, lines: number): Promise<Sample> {
  const { page } = await onlookers.at('admin');
  const address = `${onlookers.origin}${pagePath(pages.run, { id: seeded.runs.longLog.id }, { tab: 'log' })}`;
  await page.goto('about:blank');
  const startedAt = performance.now();
  await page.goto(address, { waitUntil: 'commit' });
  await waitInPage(page, `document.querySelector('[data-line]')?.getBoundingClientRect().height > 0`);
  const first = performance.now() - startedAt;
  await page.waitForLoadState('load');
  const middle = Math.floor(lines * (0.4 + Math.random() * 0.2));
  return {
    'log: first lines': first,
    'log: jump into the middle': await jump(page, middle),
    'log: frame while scrolling, p95': await scroll(page),
    'log: memory of the page': await readHeap(page),
  };
}

/** The time from a changed address until the line is on the screen. */
function jump(page: Page, line: number): Promise<number> {
  const box = `document.querySelector('[data-line="${line}"]')?.getBoundingClientRect()`;
  const isShown = `((box) => box && box.height > 0 && box.top >= 0 && box.top < innerHeight)(${box})`;
  return waitInPage(page, isShown, `location.hash = '#L${line}'`);
}

/** The times between frames while the wheel turns for two seconds. */
async function scroll(page: Page): Promise<number> {
  await page.mouse.move(640, 500);
  const frames = page.evaluate<number[]>(`new Promise((resolve) => {
    const times = [];
    let last = performance.now();
    const end = last + 2000;
    const next = (now) => {
      times.push(now - last);
      last = now;
      if (now < end) requestAnimationFrame(next); else resolve(times.slice(1));
    };
    requestAnimationFrame(next);
  })`);
  for (let turn = 0; turn < 40; turn += 1) {
    await page.mouse.wheel(0, 400);
    await page.waitForTimeout(40);
  }
  return percentile(await frames, 0.95);
}

/** In MiB, after what is no longer needed was collected. */
async function readHeap(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  await devtools.detach();
  return usedSize / 2 ** 20;
}
