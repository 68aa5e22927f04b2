import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pagePath, pages } from '#api/web/paths.ts';
import { percentile, type Sample } from '../report/statistics.ts';
import type { Stage } from './stage.ts';
import { waitInPage } from './wait-in-page.ts';

const comments = 20;
const linesPerSecond = 5_000;
const seconds = 4;

/** From the commit of a comment until somebody else's page of the run shows it. */
export async function measureEvents({ onlookers, seeded }: Stage): Promise<Sample> {
  const { page } = await onlookers.at('reviewer');
  const { id } = seeded.runs.needsApproval;
  await page.goto(`${onlookers.origin}${pagePath(pages.run, { id })}`, { waitUntil: 'load' });
  await page.waitForTimeout(1_500);
  const times: number[] = [];
  for (let each = 0; each < comments; each += 1) {
    const word = `seen-${randomUUID()}`;
    await seeded.people.requester.post(`/runs/${id}/comments`, { text: word });
    const startedAt = performance.now();
    await waitInPage(page, `document.getElementById('live')?.textContent.includes('${word}')`);
    times.push(performance.now() - startedAt);
    await sleep(100 + Math.random() * 500);
  }
  return { 'event to pixel, p95': percentile(times, 0.95) };
}

/** The longest task of the page of a run whose log grows fast. */
export async function measureGrowingLog({ onlookers, seeded, api }: Stage): Promise<Sample> {
  const { page } = await onlookers.at('operator');
  const { id } = seeded.runs.applying;
  await page.goto(`${onlookers.origin}${pagePath(pages.run, { id }, { tab: 'log' })}`, { waitUntil: 'load' });
  await page.waitForTimeout(1_000);
  await page.evaluate(`(() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => { window.longest = Math.max(window.longest, duration); }))
      .observe({ type: 'longtask' });
  })()`);
  for (let second = 0; second < seconds * 5; second += 1) {
    const startedAt = performance.now();
    await appendLines(api, id, linesPerSecond / 5);
    await sleep(Math.max(0, 200 - (performance.now() - startedAt)));
  }
  await page.waitForTimeout(1_000);
  return { 'longest task at 5,000 lines/s': await page.evaluate<number>('window.longest') };
}

/** Adds a chunk to the log of a run, behind its last one. */
async function appendLines(api: Stage['api'], runId: string, count: number): Promise<void> {
  await api.rows(
    `insert into run_log_chunks (run_id, sequence, time, attempt_id, phase, stream, first_line, lines, content, checksum)
     select run_id, sequence + 1, now(), attempt_id, phase, 'stdout', first_line + lines, ?::int,
            convert_to((select string_agg('module.host[' || n || ']: Still creating... ' || md5(n::text), E'\\n') || E'\\n' from generate_series(1, ?::int) n), 'UTF8'), 'sha256:0'
       from run_log_chunks where run_id = ? order by sequence desc limit 1`,
    [count, count, runId],
  );
}
