import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '../api/in-process-api.ts';
import { listen } from '../pages/onlookers.ts';
import { launchBrowser } from './browser.ts';
import { addSession } from './signed-in.ts';

/** An administrator in a real browser. */
export interface SignedInPage {
  readonly api: TestApi;
  readonly origin: string;
  readonly root: ApiUser;
  /** New for each test, as the page in it is. */
  readonly context: BrowserContext;
  readonly page: Page;
}

/** Opens the API and a browser for the tests of a file, and signs an administrator in before each test. The members are there once a test runs. */
export function useSignedInPage(): SignedInPage {
  const opened = {} as { -readonly [Name in keyof SignedInPage]: SignedInPage[Name] };
  let browser: Browser;
  beforeAll(async () => {
    [opened.api, browser] = await Promise.all([startApi(), launchBrowser()]);
    opened.root = await opened.api.addUser('admin', 'Root');
    opened.origin = await listen(opened.api);
  });
  afterAll(async () => {
    await browser?.close();
    await opened.api?.close();
  });
  beforeEach(async () => {
    await opened.context?.close();
    opened.context = await browser.newContext();
    opened.page = await opened.context.newPage();
    await addSession(opened.page, opened.origin, opened.root);
  });
  return opened;
}
