import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '#api/web/paths.ts';
import { openRandom } from '#test/faults/harness/random.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { findBrowser, launchBrowser } from '#test/support/browser/browser.ts';
import { findPageFaults, looks } from '#test/support/pages/find-faults.ts';
import { addHostileContent } from '#test/support/pages/hostile/hostile-content.ts';
import { declareAll, notLookedAt } from '#test/support/pages/list/all-pages.ts';
import type { DeclaredPage } from '#test/support/pages/list/declared-page.ts';
import { declareHostile } from '#test/support/pages/list/hostile-pages.ts';
import { listen, Onlookers } from '#test/support/pages/onlookers.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';
import { readSeed } from '#test/support/seed.ts';

/**
 * `npm run test:pages` looks at every page in every way. `npm test` looks at a few of them. The titles contain their seed
 * (`PAGES_SEED`).
 */
const seed = readSeed('PAGES_SEED', 1_584_479_057);
const some = 3;

let api: TestApi;
let browser: Browser;
let installation: Installation;
let onlookers: Onlookers;

describe.skipIf(findBrowser() === null)('every page, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi({ COORDINATOR_REQUESTS_PER_PRINCIPAL: '0' }), launchBrowser()]);
    installation = await seedInstallation(api);
    onlookers = new Onlookers(browser, api, installation.people, await listen(api));
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  it('is declared in test/support/pages/list', () => {
    const declared = declareAll(installation).map(({ pattern }) => pattern);
    const served = Object.values(pages).filter((url) => api.app.hasRoute({ method: 'GET', url }));
    expect([...new Set([...declared, ...notLookedAt])].sort()).toEqual(served.sort());
    expect(notLookedAt.filter((pattern) => declared.includes(pattern))).toEqual([]);
  });

  it(`is accessible, fits, and requests nothing from other hosts (seed ${seed})`, async () => {
    expect(await findFaultsOfSome(declareAll(installation))).toEqual({});
  });

  it(`is accessible, fits, and requests nothing with hostile content (seed ${seed})`, async () => {
    const content = await addHostileContent(api, installation);
    expect(await findFaultsOfSome(declareHostile(content))).toEqual({});
  });
});

/** The faults of a few pages by their names. Each page is looked at in one way. */
async function findFaultsOfSome(declared: readonly DeclaredPage[]): Promise<Record<string, string[]>> {
  const random = openRandom(seed, 'pages');
  const faulty: Record<string, string[]> = {};
  for (const page of random.shuffle(declared).slice(0, some)) {
    const faults = await findPageFaults(onlookers, page, [random.pick(looks)]);
    if (faults.length > 0) faulty[`${page.name} ${page.address}`] = faults;
  }
  return faulty;
}
