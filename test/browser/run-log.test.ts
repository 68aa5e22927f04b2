import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { findAccessibilityFaults } from '#test/support/browser/accessibility.ts';
import { findBrowser, launchBrowser, openWatchedPage, type PageWatch } from '#test/support/browser/browser.ts';
import { addSession } from '#test/support/browser/signed-in.ts';
import { colourfulLines } from '#test/support/pages/runs/colourful-lines.ts';
import { writeLongLog } from '#test/support/pages/runs/long-log.ts';
import { LogOfAttempt } from '#test/support/runs/run-log.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let origin: string;
let browser: Browser;

const nothing: PageWatch = { violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] };

describe.skipIf(findBrowser() === null)('the log of a run, in a real browser', () => {
  beforeAll(async () => {
    [api, browser] = await Promise.all([startApi(), launchBrowser()]);
    root = await api.addUser('admin', 'Root');
    steps = new RunSteps(api, root);
    await api.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });

  it('follows new lines, does not move for a reader who scrolls up, and ends with the run', async () => {
    const { runId, log } = await runUnderWay(`${numbered(1, 200).join('\n')}\n`);
    const { page, watch } = await open(runId);
    await expectLine(page, 200);
    for (const height of [500, 1100, 720]) await page.setViewportSize({ width: 1280, height });
    await log.write('line 201\n', ['stderr', 'half of']);
    await expectLine(page, 202, /standard error: half of$/);
    await log.write(['stderr', ' line 202\n']);
    await expectLine(page, 202, /half of line 202$/);
    await page.locator('.log-scroller').hover();
    await page.mouse.wheel(0, -400);
    await expect.poll(() => isInSight(page, 202)).toBe(false);
    const before = await firstInSight(page);
    await log.write(`${numbered(203, 240).join('\n')}\n`);
    await page.getByRole('button', { name: '↓ 38 new' }).click();
    expect(before).toBeLessThan(190);
    await expectLine(page, 240);
    expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0);
    await root.post(`/runs/${runId}/cancel`, { force: true });
    await page.locator('.title-line').getByText('Canceled').waitFor();
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('continues where it was after its connection was lost, with a notice meanwhile', async () => {
    const { runId, log } = await runUnderWay('line 1\n');
    const { page } = await open(runId, '', (opened) => opened.route('**/log/stream*', (route) => route.abort()));
    await page.getByText('Live updates paused – retrying').waitFor();
    await log.write('line 2\nline 3\n');
    await page.unroute('**/log/stream*');
    await expectLine(page, 3);
    await page.getByText('Live updates paused – retrying').waitFor({ state: 'hidden' });
    await page.close();
  });

  it('a log of a million lines opens at any line in a real browser, renders few, and finds all by keyboard', async () => {
    const { runId } = await runUnderWay('begin\n');
    await writeLongLog(api, runId, 1_000_000);
    const { page, watch } = await open(runId, '#L812345');
    await expectLine(page, 812_345, /copied offset 812343 /);
    expect(await page.locator('.log-target').getAttribute('data-line')).toBe('812345');
    await page.getByRole('button', { name: '↓ Follow' }).waitFor();
    await page.keyboard.press('g');
    await expectLine(page, 1, /begin$/);
    await page.keyboard.press('G');
    await expectLine(page, 1_000_001);
    await page.keyboard.press('f');
    await page.keyboard.type('offset 77777 ');
    await page.getByText('1 of 1 line', { exact: true }).waitFor({ timeout: 30_000 });
    await expectLine(page, 77_779);
    expect(await page.locator('.log-current mark').textContent()).toBe('offset 77777 ');
    expect(new URL(page.url()).searchParams.get('find')).toBe('offset 77777 ');
    expect(await page.locator('.log-line').count()).toBeLessThan(200);
    await page.getByLabel('Find in the log').press('Escape');
    await page.evaluate(`location.hash = '#L1000001'`);
    await expectLine(page, 1_000_001);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('that is longer than a browser can scroll can be reached line by line', async () => {
    const { runId, log } = await runUnderWay('begin\n');
    log.lose(2_999_000);
    await log.write(`${numbered(2_999_002, 2_999_500).join('\n')}\n`);
    const { page, watch } = await open(runId, '#L2999100');
    await expectLine(page, 2_999_100, /line 2999100$/);
    const before = await firstInSight(page);
    await page.locator('.log-scroller').hover();
    await page.mouse.wheel(0, 160);
    await expect.poll(() => firstInSight(page)).toBe(before + 10);
    await page.keyboard.press('g');
    await expectLine(page, 1);
    await expectLine(page, 2, /this line is missing: its worker was lost/);
    await page.keyboard.press('G');
    await expectLine(page, 2_999_500);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('collapses ended sections, opens at the first error, and steps through errors', async () => {
    const runId = await failedRun();
    const { page, watch } = await open(runId);
    const plan = page.locator('.log-rows').getByRole('button', { name: /^Plan Done/ });
    await page.getByText('2 of 2 errors').waitFor();
    await expectLine(page, await numberOf(page, 'Error: cannot apply'));
    await page.keyboard.press('g');
    await expect.poll(() => plan.getAttribute('aria-expanded')).toBe('false');
    expect(await isInSight(page, 1)).toBe(false);
    await plan.focus();
    await page.keyboard.press('Enter');
    await expectLine(page, 1, /planning/);
    expect(await plan.getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('Enter');
    await expect.poll(() => plan.getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('E');
    await page.getByText('1 of 2 errors').waitFor();
    await expectLine(page, 2, /Error: of the plan/);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('wraps long lines, jumps to any of them, and copies the text without numbers and times', async () => {
    const long = numbered(1, 3000).map((line) => `${line} ${'word '.repeat(60)}end`);
    const { runId } = await runUnderWay(`${long.join('\n')}\n`);
    const { page, watch } = await open(runId, '#L1500');
    await page.keyboard.press('w');
    await page.getByRole('button', { name: 'Show times' }).click();
    await expectLine(page, 1500, /word end$/);
    const scroller = page.locator('.log-scroller');
    const sideways = `(() => { const { scrollWidth, clientWidth } = document.querySelector('.log-scroller'); return scrollWidth - clientWidth; })()`;
    expect(await page.evaluate(sideways)).toBe(0);
    const before = await firstInSight(page);
    await scroller.hover();
    await page.mouse.wheel(0, 500);
    await expect.poll(() => firstInSight(page)).toBeGreaterThan(before);
    expect(await firstInSight(page)).toBeLessThan(before + 40);
    await page.keyboard.press('G');
    await expectLine(page, 3000);
    await page.keyboard.press('g');
    await expectLine(page, 1, /end$/);
    const copied = await page.evaluate(`(() => {
      const selection = getSelection();
      selection.setBaseAndExtent(document.querySelector('[data-line="1"]'), 0, document.querySelector('[data-line="3"]'), 0);
      return selection.toString();
    })()`);
    expect(copied).toBe(`${long.slice(0, 2).join('\n')}\n`);
    expect(watch).toEqual(nothing);
    await page.close();
  });

  it('has pages without scripts', async () => {
    const { runId } = await runUnderWay('begin\n');
    await writeLongLog(api, runId, 1500);
    const page = await browser.newPage({ javaScriptEnabled: false });
    await addSession(page, origin, root);
    await page.goto(addressOf(runId));
    await page.getByRole('link', { name: 'First' }).click();
    await page.getByText('Lines 1–1,000 of 1,501').waitFor();
    expect(await page.locator('.log-line').count()).toBe(1000);
    expect(await page.getByRole('button', { name: 'Wrap long lines' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Next' }).click();
    expect(await page.locator('#L1001').textContent()).toContain('copied offset 999');
    await page.close();
  });

  // `npm run test:pages` looks at every page in every width and both colours.
  const looks = [
    { scheme: 'light', width: 1280 },
    { scheme: 'dark', width: 390 },
  ] as const;

  it('is accessible, fits, and shows hostile output as text, in both schemes and widths', async () => {
    const [failed, empty] = [await failedRun(), await steps.admit()];
    for (const { scheme, width } of looks) {
      // A new page, because a browser remembers whether its reader wraps lines.
      const { page, watch } = await openSignedIn();
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: scheme });
      await page.goto(addressOf(failed));
      await page.getByText('2 of 2 errors').waitFor();
      await page.getByLabel('Find in the log').fill('modif');
      await page.getByText(/^\d+ of \d+ lines$/).waitFor();
      for (const key of ['', 'w']) {
        if (key !== '') await page.locator('.log-scroller').press(key);
        expect((await findAccessibilityFaults(page)).filter(isJudged), `${key} ${scheme} ${width}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), key).toBeLessThanOrEqual(width);
      }
      await page.goto(addressOf(empty));
      expect(await findAccessibilityFaults(page), `${scheme} ${width}`).toEqual([]);
      expect(watch).toEqual(nothing);
      await page.close();
    }
  });
});

/** Rows that wait above and below the scroll area, and signs that are no letters, have no contrast that could be judged. */
const isJudged = (fault: string) =>
  !/^color-contrast: .*(data-line|#L|log-rest|ansi-).*(obscured|overlapped|non-text characters)/s.test(fault);

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);

async function runUnderWay(text: string): Promise<{ runId: string; log: LogOfAttempt }> {
  const worker = await steps.worker('sandbox');
  const { runId, attemptId } = await steps.planning(worker, 'sandbox');
  const log = new LogOfAttempt(api, { attemptId });
  await log.write(text);
  return { runId, log };
}

/** A run whose apply failed after it had printed all kinds of things. */
async function failedRun(): Promise<string> {
  const worker = await steps.worker('sandbox');
  const { runId, attemptId } = await steps.planning(worker, 'sandbox');
  await new LogOfAttempt(api, { attemptId }).write('planning\nError: of the plan\n');
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  const apply = executing(await steps.next({ runId, executed: attemptId }));
  await steps.claim(apply, worker, 'sandbox');
  await new LogOfAttempt(api, { attemptId: apply, phase: 'apply' }).write(
    `${colourfulLines()
      .filter((line) => !line.includes('Error'))
      .join('\n')}\n`,
    ['stderr', '\x1b[1;41;97mError: cannot apply\x1b[0m <script>alert(1)</script>\n'],
    `${'x'.repeat(1_000_000)}\n\n\u202e reversed \u2066 \0\x07 &amp; ثثث ${'漢字'.repeat(300)}\n`,
    ['system', '[log truncated: it reached its limit]\n'],
  );
  await steps.complete(apply, { outcome: 'failed', reason: 'apply_failed' });
  await steps.next({ runId, executed: apply });
  return runId;
}

async function open(runId: string, more = '', prepare?: (page: Page) => Promise<unknown>) {
  const { page, watch } = await openSignedIn();
  await prepare?.(page);
  await page.goto(addressOf(runId, more));
  return { page, watch };
}

async function openSignedIn(): Promise<{ page: Page; watch: PageWatch }> {
  const opened = await openWatchedPage(browser, origin);
  await addSession(opened.page, origin, root);
  return opened;
}

function addressOf(runId: string, more = ''): string {
  return `${origin}/workloads/runs/${runId}?tab=log${more}`;
}

async function expectLine(page: Page, number: number, text: RegExp = /./): Promise<void> {
  await expect.poll(() => isInSight(page, number)).toBe(true);
  await expect.poll(() => page.locator(`[data-line="${number}"]`).textContent()).toMatch(text);
}

/** The lines whose boxes lie inside the scroll area, below the head that stays in sight. */
const linesInSight = `(() => {
  const area = document.querySelector('.log-scroller').getBoundingClientRect();
  return [...document.querySelectorAll('[data-line]')]
    .filter((line) => { const box = line.getBoundingClientRect(); return box.bottom > area.top + 34 && box.top < area.bottom - 2; })
    .map((line) => Number(line.dataset.line));
})()`;

async function isInSight(page: Page, number: number): Promise<boolean> {
  return (await page.evaluate<number[]>(linesInSight)).includes(number);
}

async function firstInSight(page: Page): Promise<number> {
  return (await page.evaluate<number[]>(linesInSight))[0] ?? 0;
}

async function numberOf(page: Page, text: string): Promise<number> {
  return Number(await page.locator('.log-line', { hasText: text }).first().getAttribute('data-line'));
}
