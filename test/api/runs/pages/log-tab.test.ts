import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import { writeLongLog } from '#test/support/pages/runs/long-log.ts';
import { type Chunk, LogOfAttempt } from '#test/support/runs/run-log.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let worker: string;
let visitor: Visitor;

beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin');
  steps = new RunSteps(api, root);
  worker = await steps.worker('sandbox');
  visitor = await signInVisitor(api, root);
});
afterAll(() => api?.close());

async function runWithLog(...chunks: readonly Chunk[]): Promise<string> {
  const { runId, attemptId } = await steps.planning(worker, 'sandbox');
  await new LogOfAttempt(api, { attemptId }).write(...chunks);
  return runId;
}
const pageOf = (id: string, more = '') => visitor.get(`/workloads/runs/${id}?tab=log${more}`);
const partOf = async (id: string, query = '') => {
  const answer = await visitor.get(`/workloads/runs/${id}/log/lines${query}`);
  return { status: answer.status, ...JSON.parse(answer.text) };
};

describe('the log of a run without scripts', () => {
  it('shows a thousand lines with their numbers as links, and links to the other pages', async () => {
    const id = await runWithLog('begin\n');
    await writeLongLog(api, id, 2500);
    const { text } = await pageOf(id, '&from=1');
    expect(text.match(/class="log-number"/g)).toHaveLength(1000);
    expect(text).toContain('<a class="log-number" href="#L812" aria-label="Line 812"> 812</a>');
    expect(text).toContain('Lines 1–1,000 of 2,501');
    expect(text).toContain(`href="/workloads/runs/${id}?tab=log&amp;from=1001" rel="next"`);
    const last = (await pageOf(id)).text;
    expect(last, 'a run under way begins at its end').toContain('Lines 1,502–2,501 of 2,501');
    expect(last).toContain(`href="/workloads/runs/${id}?tab=log&amp;from=502" rel="prev"`);
    expect((await visitor.get(`/workloads/runs/${id}/log?from=7`)).location).toBe(
      `/workloads/runs/${id}?tab=log&from=7`,
    );
  });

  it('shows what a program printed as text, even if it is markup', async () => {
    const id = await runWithLog(
      `<img src=x onerror=alert(1)>\n`,
      ['stderr', '\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07 \x1b[31;1m<b>red\x1b[0m\0\x07\n'],
      'progress 1 %\rprogress <100> %\r\n',
      `${'z'.repeat(100_000)}\n`,
    );
    const { text } = await pageOf(id);
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(text).toContain('link <span class="ansi-red ansi-bold">&lt;b&gt;red</span>␀␇');
    expect(text).toContain('<span class="log-text">progress &lt;100&gt; %</span>');
    expect(text).toContain('96,000 more characters: show the whole line');
    expect(text).not.toMatch(/javascript:|\x1b|\0|\sstyle=/);
    const whole = await visitor.get(`/workloads/runs/${id}/log/lines/4`);
    expect(whole.text).toBe(`${'z'.repeat(100_000)}\n`);
    expect(whole.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });

  it('shows a few thousand colours at once and other lines without colours, and says so', async () => {
    const colourful = `${'\x1b[31mr\x1b[32mg'.repeat(40)}\n`;
    const id = await runWithLog('\x1b[31mred\x1b[0m\n', colourful.repeat(500));
    const { text } = await pageOf(id, '&from=1');
    expect(text.match(/class="ansi-/g)?.length).toBeLessThan(11_000);
    expect(text).toMatch(/<p class="log-plain muted" data-log="plain" +>Some lines are shown without their colours/);
    expect(text).toContain(`<span class="log-text">${'rg'.repeat(40)}</span>`);
    expect(await partOf(id, '?from=1&limit=100')).toMatchObject({ hasLostColours: false });
    expect(await partOf(id, '?from=1&limit=400')).toMatchObject({ hasLostColours: true });
    expect((await pageOf(id, '&from=400')).text, 'a page with fewer').toMatch(/data-log="plain" hidden/);
  });

  it('names all modules of its script, so that a browser loads them at once', async () => {
    const { text } = await pageOf(await runWithLog('a\n'));
    const named = new Set(
      [...text.matchAll(/<link rel="modulepreload" href="([^"]+)">/g)].map(([, address]) => address ?? ''),
    );
    expect(named.size).toBeGreaterThan(5);
    for (const address of named) {
      const { status, text: script } = await visitor.get(address);
      expect(status, address).toBe(200);
      for (const [, imported] of script.matchAll(/from '\.\/([^']+)'/g))
        expect(
          [...named].some((each) => each.endsWith(`/${imported}`)),
          `${address} imports ${imported}`,
        ).toBe(true);
    }
  });

  it('downloads the log in the bytes that the steps wrote', async () => {
    const id = await runWithLog('a\x1b[31mb\r\n', 'c');
    const { text, headers } = await visitor.get(`/workloads/runs/${id}/log.txt`);
    expect(text).toBe('a\x1b[31mb\r\nc');
    expect(headers['content-disposition']).toBe(`attachment; filename="run-${id}.log"`);
  });

  it('says why it is empty', async () => {
    const id = await steps.admit();
    expect((await pageOf(id)).text).toContain('No output yet.');
    await root.post(`/runs/${id}/cancel`, { force: true });
    expect((await pageOf(id)).text).toContain('The run ended before a worker began it.');
  });
});

describe('the parts of a log that the page asks for', () => {
  it('contain lines with their coloured pieces, the total of lines, and the sections', async () => {
    const id = await runWithLog('plain\n', ['stderr', '\x1b[32mgreen\x1b[0m rest\n']);
    const part = await partOf(id, '?from=1&limit=2');
    expect(part).toMatchObject({
      status: 200,
      total: 2,
      to: 2,
      complete: false,
      lines: [
        [1, 'stdout', expect.any(Number), 'plain', 0],
        [
          2,
          'stderr',
          expect.any(Number),
          [
            ['green', 'ansi-green'],
            [' rest', ''],
          ],
          0,
        ],
      ],
      sections: [{ key: 'plan-1', label: 'Plan', outcome: 'Running', first: 1, lines: 2, isSettled: false }],
    });
  });

  it('contain the numbers of the lines that contain a text', async () => {
    const id = await runWithLog('one\n\x1b[1mTw\x1b[0mo\nError: x\n');
    const find = async (query: string) =>
      JSON.parse((await visitor.get(`/workloads/runs/${id}/log/matches${query}`)).text).numbers;
    expect(await find('?find=two&ignore_case=true')).toEqual([2]);
    expect(await find('')).toEqual([3]);
  });

  it.each(['lines', 'matches', 'stream', 'lines/1'])(
    'answer 404 for the id of a run that does not exist: %s',
    async (part) => {
      const { status } = await visitor.get(`/workloads/runs/019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11/log/${part}`);
      expect(status).toBe(404);
    },
  );

  it('are not sent to somebody who is not signed in', async () => {
    const id = await runWithLog('secret\n');
    const stranger = new Visitor(api.app);
    for (const part of ['lines', 'matches', 'stream', 'lines/1']) {
      const { status, text } = await stranger.get(`/workloads/runs/${id}/log/${part}`, { 'hx-request': 'true' });
      expect([status, text]).toEqual([401, '']);
    }
    expect((await stranger.get(`/workloads/runs/${id}/log.txt`)).status).toBe(303);
  });

  it("follow the log from the line after the page's last one until the run has ended", async () => {
    const id = await runWithLog('1\n2\n3');
    await root.post(`/runs/${id}/cancel`, { force: true });
    const { text } = await visitor.get(`/workloads/runs/${id}/log/stream?after=1`);
    const events = [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, event, data]) => ({ event, data }));
    expect(events.map(({ event }) => event)).toEqual(['changed', 'log', 'end']);
    const part = JSON.parse(events[1]?.data ?? '');
    expect(part.lines.map(([number]: [number]) => number)).toEqual([2, 3]);
    expect(text, 'the last line has no end, so it is sent again').toMatch(/^id: 2$/m);
    const again = await visitor.get(`/workloads/runs/${id}/log/stream?after=1`, { 'last-event-id': '2' });
    expect(again.text).toMatch(/"lines":\[\[3,/);
  });
});
