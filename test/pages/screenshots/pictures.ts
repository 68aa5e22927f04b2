import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { DeclaredPage } from '#test/support/pages/list/declared-page.ts';
import type { Onlookers } from '#test/support/pages/onlookers.ts';

/** Every width at which pages are looked at, in both colour schemes. */
const viewports = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ name: `${width}-${scheme}`, width, scheme })),
);
const heights: Readonly<Record<number, number>> = { 1280: 800, 390: 844 };

/** How well the pictures of the documentation keep details, of 100. */
const quality = 40;

export interface Target {
  readonly directory: string;
  /** Whole pages as PNG, instead of what is first seen of them in few bytes. */
  readonly isWhole: boolean;
  /** The names of the wanted viewports; none: all. */
  readonly viewports: readonly string[];
}

/** Takes pictures of pages, and says which pages could not be shown. */
export async function takePictures(
  onlookers: Onlookers,
  pages: readonly DeclaredPage[],
  target: Target,
): Promise<void> {
  const wanted = viewports.filter(({ name }) => target.viewports.length === 0 || target.viewports.includes(name));
  let bytes = 0;
  for (const { name, who, address } of pages) {
    const { page } = await onlookers.at(who);
    const answer = await page.goto(`${onlookers.origin}${address}`, { waitUntil: 'load' });
    for (const { name: viewport, width, scheme } of wanted) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: heights[width] ?? 800 });
      const picture = await (target.isWhole ? takeWhole(page) : takeSmall(page));
      writeFileSync(join(target.directory, `${name}-${viewport}.${target.isWhole ? 'png' : 'webp'}`), picture);
      bytes += picture.length;
    }
    console.log(`${answer?.status() ?? 'no answer'}  ${name}  ${address}`);
  }
  console.log(`${pages.length} pages, ${Math.round(bytes / 1024)} KiB in ${target.directory}`);
}

function takeWhole(page: Page): Promise<Buffer> {
  return page.screenshot({ fullPage: true });
}

/** What is first seen of a page. Chromium writes WebP, which is a third as large as a PNG of the same page. */
async function takeSmall(page: Page): Promise<Buffer> {
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality });
  await devtools.detach();
  return Buffer.from(data, 'base64');
}
