import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionCookie } from '#api/edge/cookies.ts';
import { pages } from '#api/web/paths.ts';
import { openRandom } from '#test/faults/harness/random.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { findBrowser, launchBrowser } from '#test/support/browser/browser.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import { findPageFaults, looks } from '#test/support/pages/find-faults.ts';
import { listOpenChoices } from '#test/support/pages/forms/open-choices.ts';
import { addHostileContent } from '#test/support/pages/hostile/hostile-content.ts';
import { declareAll, notLookedAt } from '#test/support/pages/list/all-pages.ts';
import type { DeclaredPage } from '#test/support/pages/list/declared-page.ts';
import { declareHostile } from '#test/support/pages/list/hostile-pages.ts';
import { listen, Onlookers } from '#test/support/pages/onlookers.ts';
import type { PersonKey } from '#test/support/pages/people.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';
import { readSeed } from '#test/support/seed.ts';

/**
 * `npm run test:pages` looks at every page in every way. `npm test` looks at a few of them. The titles contain their seed
 * (`PAGES_SEED`).
 */
const seed = readSeed('PAGES_SEED', 1_584_479_057);
const some = 3;
/** A busy machine needs some minutes for hundreds of pages. */
const forAllMs = 600_000;

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

  it('answers as declared, with fields of a single choice preselected', {
    timeout: forAllMs,
  }, async () => {
    expect(await findWrongAnswers(declareAll(installation))).toEqual([]);
  });

  it(`is accessible, fits, and requests nothing from other hosts (seed ${seed})`, async () => {
    expect(await findFaultsOfSome(declareAll(installation))).toEqual({});
  });

  it(`is accessible, fits, and requests nothing with hostile content (seed ${seed})`, async () => {
    const content = await addHostileContent(api, installation);
    expect(await findFaultsOfSome(declareHostile(content))).toEqual({});
  });
});

/** Returns the pages that answer with another status than declared, and fields with only one choice. It needs no browser. */
async function findWrongAnswers(declared: readonly DeclaredPage[]): Promise<string[]> {
  const visitors = new Map<PersonKey | null, Visitor>([[null, new Visitor(api.app)]]);
  const wrong: string[] = [];
  for (const { name, who, address, answers } of declared) {
    const visitor = visitors.get(who) ?? (await signIn(who));
    visitors.set(who, visitor);
    const { status, text } = await visitor.get(address);
    if (status !== answers) wrong.push(`${name} answers ${status} instead of ${answers}`);
    wrong.push(...listOpenChoices(text).map((field) => `${name} has one choice of ${field}, and has not chosen it`));
  }
  return wrong;
}

async function signIn(who: PersonKey | null): Promise<Visitor> {
  const visitor = new Visitor(api.app);
  if (who === null) return visitor;
  const { credential } = await api.signIn(installation.people[who]);
  visitor.cookie = `${sessionCookie}=${credential['authorization']?.replace('Bearer ', '') ?? ''}`;
  return visitor;
}

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
