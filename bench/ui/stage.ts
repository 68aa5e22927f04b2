import pino from 'pino';
import type { Browser } from 'playwright-core';
import { openApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { findBrowser, launchBrowser } from '#test/support/browser/browser.ts';
import { Onlookers } from '#test/support/pages/onlookers.ts';
import { type Installation as Seeded, seedInstallation } from '#test/support/pages/realistic-installation.ts';
import { writeLongLog } from '#test/support/pages/runs/long-log.ts';
import { insertRuns } from '../data/run-rows.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';

/** How much the pages have to show. */
export interface Amounts {
  readonly runs: number;
  readonly logLines: number;
}

/** A filled installation with many runs, whose pages a browser shows. Its API runs in a process of its own. */
export interface Stage {
  readonly installation: Installation;
  readonly seeded: Seeded;
  /** The same installation in this process, to change what the pages show. */
  readonly api: TestApi;
  readonly browser: Browser;
  readonly onlookers: Onlookers;
  close(): Promise<void>;
}

export async function openStage(testbed: Testbed, { runs, logLines }: Amounts): Promise<Stage> {
  if (findBrowser() === null)
    throw new Error('no Chromium was found: install the package chromium, or set CHROMIUM_PATH');
  const installation = await testbed.open('ui');
  const api = await openApi(installation.config, pino({ level: 'silent' }));
  const seeded = await seedInstallation(api);
  const { colours, longLog } = seeded.runs;
  testbed.report(`making ${runs} runs and ${logLines} lines of log`);
  await insertRuns(installation.database, colours.id, runs);
  await writeLongLog(api, longLog.id, logLines);
  await installation.database.query('vacuum analyze run_log_chunks');
  const browser = await launchBrowser();
  return {
    installation,
    seeded,
    api,
    browser,
    onlookers: new Onlookers(browser, api, seeded.people, installation.url),
    close: async () => {
      await browser.close();
      await api.close();
      await installation.close();
    },
  };
}
