import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import type { LogStream } from '#domain/shared/vocabulary/runs.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { executing, RunSteps } from '#test/support/runs/run-steps.ts';

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

/** A run with a log of the given entries; standard output unless a stream is given. */
async function runWithLog(entries: readonly (string | [LogStream, string])[]): Promise<string> {
  const id = await steps.admit();
  const attemptId = executing(await steps.next({ runId: id }));
  await steps.claim(attemptId, worker, 'sandbox');
  for (const [index, entry] of entries.entries()) {
    const [stream, text] = typeof entry === 'string' ? (['stdout', entry] as const) : entry;
    const content = Buffer.from(text);
    await appendLog(api.services.orm.em.fork(), attemptId, {
      sequence: index + 1,
      phase: 'apply',
      stream,
      time: new Date().toISOString(),
      content,
      firstLine: index,
      lines: 1,
      checksum: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    });
  }
  return id;
}

const search = async (id: string, query: Record<string, string>) => {
  const { status, body, text } = await admin.get(`/runs/${id}/logs?${new URLSearchParams(query)}`);
  expect(status, text).toBe(200);
  return body;
};
const sequencesOf = ({ entries }: { entries: { sequence: number }[] }) => entries.map(({ sequence }) => sequence);

/** Searches on until everything was searched. */
async function searchAll(id: string, find: string, limit: number): Promise<number[]> {
  const found: number[] = [];
  const sql = 'select max(sequence) as last from run_log_chunks where run_id = ?';
  const end = (await api.rows<{ last: number }>(sql, [id]))[0]?.last ?? 0;
  for (let after = 0; after < end; ) {
    const page = await search(id, { find, limit: String(limit), after: String(after) });
    found.push(...sequencesOf(page));
    after = page.last_sequence;
  }
  return found;
}

describe('a search in a log', () => {
  it('returns the entries that contain the text, their sequences, and where to continue', async () => {
    const id = await runWithLog([
      'creating a\n',
      'Error: no such thing\n',
      'creating b\n',
      'an error again\n',
      'done\n',
    ]);
    const found = await search(id, { find: 'Error' });
    expect(found).toMatchObject({ entries: [{ sequence: 2, text: 'Error: no such thing\n' }], last_sequence: 5 });
    expect(sequencesOf(await search(id, { find: 'error', ignore_case: 'true' }))).toEqual([2, 4]);
    expect(sequencesOf(await search(id, { find: 'creating', after: '1' }))).toEqual([3]);
    expect(await search(id, { find: 'nowhere' })).toMatchObject({ entries: [], last_sequence: 5, complete: false });
    await admin.post(`/runs/${id}/cancel`, { force: true });
    expect(await search(id, { find: 'nowhere' })).toMatchObject({ entries: [], complete: true });
  });

  it('stops at its limit and can be continued from there', async () => {
    const id = await runWithLog(['x1\n', 'y\n', 'x2\n', 'x3\n', 'y\n']);
    expect(await search(id, { find: 'x', limit: '2' })).toMatchObject({ last_sequence: 3 });
    expect(await searchAll(id, 'x', 1)).toEqual([1, 3, 4]);
  });

  it('looks for the text literally, and not for a pattern', async () => {
    const id = await runWithLog(['a.c\n', 'abc\n', '100%_\\\n', "it's\n"]);
    expect(sequencesOf(await search(id, { find: 'a.c' }))).toEqual([1]);
    expect(sequencesOf(await search(id, { find: '%_\\' }))).toEqual([3]);
    expect(sequencesOf(await search(id, { find: "'s" }))).toEqual([4]);
  });

  it.each([1, 2, 1000])('finds a text that spans entries in the last of them, with %d at a time', async (limit) => {
    const id = await runWithLog([
      'before net',
      'work ÄÖ',
      ['stderr', 'other stream\n'],
      'Ü after\n',
      'n',
      'e',
      't',
      'w',
      'o',
      'rk\n',
    ]);
    expect(await searchAll(id, 'network', limit)).toEqual([2, 10]);
    expect(await searchAll(id, 'ÄÖÜ', limit)).toEqual([4]);
    expect(await searchAll(id, 'ÖÜ a', limit)).toEqual([4]);
    expect(await searchAll(id, 'other stream\nÜ', limit)).toEqual([]);
  });

  it('reads a bounded part of a long log in one request', async () => {
    const big = `${'a'.repeat(65_000)}\n`;
    const id = await runWithLog([...Array.from({ length: 160 }, () => big), 'needle\n']);
    const first = await search(id, { find: 'needle' });
    expect(first.entries).toEqual([]);
    expect(first.last_sequence).toBeGreaterThan(100);
    expect(first.last_sequence).toBeLessThan(160);
    expect(await searchAll(id, 'needle', 10)).toEqual([161]);
  });

  it.each([
    ['find=', {}],
    [`find=${'x'.repeat(201)}`, {}],
    ['ignore_case=true', {}],
    ['find=x', { accept: 'text/plain' }],
  ])('answers 400 to %s with %o', async (query, headers) => {
    const id = await runWithLog([]);
    expect((await admin.get(`/runs/${id}/logs?${query}`, headers)).status).toBe(400);
  });
});
