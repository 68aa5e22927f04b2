import { pagePath, pages } from '#api/web/paths.ts';
import type { Sample } from '../report/statistics.ts';
import type { Stage } from './stage.ts';
import { countBytes } from './transfer.ts';

/** How long the plan of 5,000 changes takes until its first changes are on the screen, and how much is sent for them. */
export async function measureLargePlan({ onlookers, seeded }: Stage): Promise<Sample> {
  const { page } = await onlookers.at('reviewer');
  const address = `${onlookers.origin}${pagePath(pages.run, { id: seeded.runs.bigPlan.id }, { tab: 'plan' })}`;
  // The first visit fills the cache with what all pages share.
  await page.goto(address, { waitUntil: 'load' });
  const bytes = await countBytes(page, address);
  await page.goto('about:blank');
  const startedAt = performance.now();
  await page.goto(address, { waitUntil: 'load' });
  return { 'plan of 5,000 changes: shown': performance.now() - startedAt, 'plan of 5,000 changes: sent': bytes / 1024 };
}
