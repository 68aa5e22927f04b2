import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type Chunk, LogOfAttempt } from '#test/support/runs/run-log.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';
import { within } from '#test/support/slowness.ts';

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let worker: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
  worker = await steps.worker('sandbox');
});
afterAll(() => api?.close());

async function runWithLog(...chunks: readonly Chunk[]): Promise<{ id: string; log: LogOfAttempt }> {
  const { runId: id, attemptId } = await steps.planning(worker, 'sandbox');
  const log = new LogOfAttempt(api, { attemptId });
  await log.write(...chunks);
  return { id, log };
}

async function ask(path: string) {
  const { status, body, text } = await admin.get(path);
  expect(status, text).toBe(200);
  return body;
}
const linesOf = (id: string, query: Record<string, string> = {}) =>
  ask(`/runs/${id}/logs/lines?${new URLSearchParams(query)}`);
const find = (id: string, query: Record<string, string> = {}) =>
  ask(`/runs/${id}/logs/matches?${new URLSearchParams(query)}`);
const textsOf = ({ lines }: { lines: { number: number; text: string }[] }) =>
  lines.map(({ number, text }) => `${number} ${text}`);

describe('the lines of a log', () => {
  it('are those of the log as text, wherever chunks begin and end', async () => {
    const { id } = await runWithLog('one\ntw', 'o\n', 'th', 'r', 'ee\nfour\n\nsix\n', 'sev', 'en');
    const all = ['1 one', '2 two', '3 three', '4 four', '5 ', '6 six', '7 seven'];
    const answer = await linesOf(id);
    expect(textsOf(answer)).toEqual(all);
    expect(answer).toMatchObject({ to: 7, total: 7, complete: false });
    const raw = (await admin.get(`/runs/${id}/logs`, { accept: 'text/plain' })).text;
    expect(raw.split('\n').map((text, index) => `${index + 1} ${text}`)).toEqual(all);
    for (const from of [1, 2, 3, 4, 5, 6, 7]) {
      for (const limit of [1, 2, 7]) {
        const part = await linesOf(id, { from: String(from), limit: String(limit) });
        expect(textsOf(part), `${from} ${limit}`).toEqual(all.slice(from - 1, from - 1 + limit));
        expect(part.to).toBe(Math.min(7, from + limit - 1));
      }
    }
  });

  it('can be read from the end, without the lines that the reader has', async () => {
    const { id, log } = await runWithLog('1\n2\n3\n4\n');
    expect(textsOf(await linesOf(id, { last: '2' }))).toEqual(['3 3', '4 4']);
    expect(textsOf(await linesOf(id, { last: '9' }))).toHaveLength(4);
    expect(textsOf(await linesOf(id, { last: '3', from: '4' }))).toEqual(['4 4']);
    expect(await linesOf(id, { last: '3', from: '5' })).toMatchObject({ lines: [], to: 4, total: 4 });
    await log.write('5 not en');
    expect(textsOf(await linesOf(id, { from: '5' }))).toEqual(['5 5 not en']);
    await log.write('ded\n');
    expect(textsOf(await linesOf(id, { from: '5' }))).toEqual(['5 5 not ended']);
  });

  it('have the name of their stream, and contain escape sequences and NUL unchanged', async () => {
    const { id } = await runWithLog('a\x1b[31mred\0\r\n', ['stderr', 'b\n'], 'c', ['stderr', 'd\n']);
    const { lines } = await linesOf(id);
    expect(lines.map(({ stream, text }: Record<string, string>) => [stream, text])).toEqual([
      ['stdout', 'a\x1b[31mred\0'],
      ['stderr', 'b'],
      ['stderr', 'cd'],
    ]);
  });

  it('are cut if they are long, and the next read starts at the line after them', async () => {
    const long = 'x'.repeat(60_000);
    const { id } = await runWithLog('first\n', ...Array.from({ length: 30 }, () => long), 'end\nlast\n');
    const { lines, to } = await linesOf(id);
    expect(lines.map(({ text, cut }: { text: string; cut: number }) => [text.length, cut > 1_000_000])).toEqual([
      [5, false],
      [8192, true],
      [4, false],
    ]);
    expect(to).toBe(3);
    expect(textsOf(await linesOf(id, { from: '3' }))).toEqual(['3 last']);
  });

  it('contain the end of a long line that overwrites itself with carriage returns', async () => {
    const progress = Array.from({ length: 3000 }, (_, index) => `progress ${index}\r`).join('');
    const { id } = await runWithLog(progress, 'progress done\n');
    expect((await linesOf(id)).lines[0].text).toMatch(/progress 2999\rprogress done$/);
  });

  it('omit what a lost worker did not deliver, and say which line was read last', async () => {
    const { id, log } = await runWithLog('1\n2\n');
    log.lose(3);
    await log.write('6\n');
    const answer = await linesOf(id);
    expect(textsOf(answer)).toEqual(['1 1', '2 2', '6 6']);
    expect(answer).toMatchObject({ to: 6, total: 6 });
  });

  it('have a section for each attempt', async () => {
    const { runId, attemptId } = await steps.planning(worker, 'sandbox');
    await new LogOfAttempt(api, { attemptId }).write('planning\nno changes? ');
    await steps.abandon(attemptId, worker, 'handed_back');
    const again = executing(await steps.next({ runId, executed: attemptId }));
    await steps.claim(again, worker, 'sandbox');
    await new LogOfAttempt(api, { attemptId: again }).write('planned\n');
    await steps.complete(again, { outcome: 'planned', plan: aPlan() });
    const apply = executing(await steps.next({ runId, executed: again }));
    await steps.claim(apply, worker, 'sandbox');
    await new LogOfAttempt(api, { attemptId: apply, phase: 'apply' }).write('applying\n');
    const { sections, total } = await linesOf(runId);
    const shown = sections.map((each: Record<string, unknown>) =>
      ['phase', 'attempt', 'first_line', 'lines', 'outcome'].map((name) => each[name]),
    );
    expect(shown).toEqual([
      ['plan', 1, 1, 2, 'handed_back'],
      ['plan', 2, 3, 2, 'planned'],
      ['apply', 1, 5, 1, null],
    ]);
    expect(total).toBe(5);
  });

  it('an empty log has no lines', async () => {
    const id = await steps.admit();
    const nothing = { lines: [], to: 0, total: 0, sections: [], complete: false, removed_before: null };
    expect(await linesOf(id)).toEqual(nothing);
    expect(await find(id)).toEqual({ numbers: [], next: null, complete: false });
    await admin.post(`/runs/${id}/cancel`, { force: true });
    expect(await linesOf(id, { from: '9', last: '3' })).toEqual({ ...nothing, complete: true });
  });

  it.each(['from=0', 'limit=1001', 'last=0', 'from=1e3', 'limit=x'])('are refused with %s', async (query) => {
    expect((await admin.get(`/runs/${await steps.admit()}/logs/lines?${query}`)).status).toBe(400);
  });
});

describe('a search for lines', () => {
  it('finds only visible text, without escape sequences and overwritten text', async () => {
    const { id } = await runWithLog(
      '\x1b[1mEr\x1b[0mror: x\nplain\n\x1b]0;Error: title\x07quiet\n',
      'Error: 1 %\rdone\nan er',
      'ror: y\n',
    );
    expect(await find(id, { find: 'Error:' })).toEqual({ numbers: [1], next: null, complete: false });
    expect((await find(id, { find: 'error:', ignore_case: 'true' })).numbers).toEqual([1, 5]);
    expect((await find(id, { find: '.' })).numbers).toEqual([]);
    expect((await find(id, { find: 'error:', ignore_case: 'true', from: '2' })).numbers).toEqual([5]);
  });

  it('stops at its limit, and continues from there until it has found all', async () => {
    const { id } = await runWithLog('x\ny\nx\n', 'x\ny\n');
    expect(await find(id, { find: 'x', limit: '2' })).toMatchObject({ numbers: [1, 3], next: 4 });
    expect(await find(id, { find: 'x', from: '4' })).toMatchObject({ numbers: [4], next: null });
  });

  it('reads a bounded part of a long log in one request', async () => {
    const big = `${'a'.repeat(65_000)}\n`;
    const { id } = await runWithLog(...Array.from({ length: 160 }, () => big), 'needle\n');
    const first = await find(id, { find: 'needle' });
    expect(first.numbers).toEqual([]);
    expect(first.next).toBeGreaterThan(100);
    expect(await find(id, { find: 'needle', from: String(first.next) })).toMatchObject({ numbers: [161], next: null });
  });

  it('finds lines that report an error, and not lines that only count or mention errors', async () => {
    const errors = [
      '\x1b[31m│\x1b[0m \x1b[1mError: \x1b[0mno',
      'fatal: [host]: FAILED!',
      '[ERROR] x',
      'level=error msg=x',
    ];
    const more = ['npm ERR! code', 'make: *** [all] Error 2', 'panic: nil', 'ValueError: x', 'step failed: exit 1'];
    const others = ['0 errors', 'errors.go compiled', 'no error', 'failed-over', 'error-pages created'];
    const { id } = await runWithLog(`${[...errors, ...more, ...others].join('\n')}\n`);
    expect((await find(id)).numbers).toEqual([...errors, ...more].map((_, index) => index + 1));
  });

  it('takes little time for a line that nearly matches many errors', async () => {
    const { id } = await runWithLog(`${'failed ['.repeat(100_000)}\n`);
    expect((await within(2_000, () => find(id))).numbers).toEqual([]);
  });

  it.each([['find='], [`find=${'x'.repeat(201)}`], ['ignore_case=true'], ['limit=100001']])(
    'answers 400 to %s',
    async (query) => {
      expect((await admin.get(`/runs/${await steps.admit()}/logs/matches?${query}`)).status).toBe(400);
    },
  );
});
