import type { Page } from 'playwright-core';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Sample } from '../report/statistics.ts';
import type { Stage } from './stage.ts';

const kibibyte = 1024;

/** How much a visitor loads with the first page, and with the next one, compressed as it is sent. */
export async function measureTransfer({ browser, onlookers, seeded }: Stage): Promise<Sample> {
  const state = await (await onlookers.at('reviewer')).page.context().storageState();
  const context = await browser.newContext({ storageState: state });
  const page = await context.newPage();
  const first = await countBytes(page, `${onlookers.origin}${pagePath(pages.runs)}`);
  const next = await countBytes(
    page,
    `${onlookers.origin}${pagePath(pages.run, { id: seeded.runs.needsApproval.id })}`,
  );
  await context.close();
  return { 'first page, compressed': first / kibibyte, 'next page, compressed': next / kibibyte };
}

/** The bytes of all answers until a page is loaded, as they come over the wire. */
export async function countBytes(page: Page, address: string): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  let bytes = 0;
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await devtools.send('Network.enable');
  await page.goto(address, { waitUntil: 'load' });
  await devtools.detach();
  return bytes;
}
