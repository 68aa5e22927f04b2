import type { Page } from 'playwright-core';
import { findAccessibilityFaults } from '../browser/accessibility.ts';
import type { PageWatch } from '../browser/browser.ts';
import type { DeclaredPage } from './list/declared-page.ts';
import type { Onlookers } from './onlookers.ts';

export interface Look {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

/** A window of a desk, that of a desk at 400 % zoom (1280 / 4), and one of a phone, both light and dark. */
export const looks: readonly Look[] = [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  { width: 320, colorScheme: 'light' },
  { width: 320, colorScheme: 'dark' },
];

/**
 * What is wrong with a page in any of these looks: faults of accessibility, contents wider than the window, anything that the
 * policy stopped, errors in the console, and requests to elsewhere. Normally nothing. The page is loaded once, and then changes
 * its size and colours.
 */
export async function findPageFaults(
  onlookers: Onlookers,
  { who, address, answers }: DeclaredPage,
  wanted: readonly Look[] = looks,
): Promise<string[]> {
  const { page, watch } = await onlookers.at(who);
  await page.setViewportSize({ width: 1280, height: 800 });
  const answer = await page.goto(`${onlookers.origin}${address}`, { waitUntil: 'load' });
  const status = answer?.status() ?? 0;
  const faults = status === answers ? [] : [`answered ${status} instead of ${answers}`];
  for (const { width, colorScheme } of wanted) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    const found = [...(await findAccessibilityFaults(page)), ...(await findOverflow(page, width))];
    faults.push(...found.map((fault) => `${width} px, ${colorScheme}: ${fault}`));
  }
  return [...faults, ...takeWatched(watch, status)];
}

async function findOverflow(page: Page, width: number): Promise<string[]> {
  const scrollWidth = await page.evaluate<number>('document.documentElement.scrollWidth');
  if (scrollWidth <= width) return [];
  const culprits = await page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
    .filter((each) => each.getBoundingClientRect().right > ${width} + 1).slice(0, 5)
    .map((each) => each.tagName.toLowerCase() + '.' + [...each.classList].join('.'))`);
  return [`is ${scrollWidth} px wide because of ${culprits.join(', ')}`];
}

/** What was written down since the last page. An error page is a failed answer, which browsers report, too. */
function takeWatched(watch: PageWatch, status: number): string[] {
  const own = status >= 400 ? [`${status} `, `status of ${status}`] : [];
  const isOwn = (text: string) => own.some((part) => text.includes(part));
  const faults = Object.entries(watch).flatMap(([kind, texts]) =>
    texts.filter((text) => !isOwn(text)).map((text) => `${kind}: ${text}`),
  );
  for (const texts of Object.values(watch)) texts.length = 0;
  return faults;
}
