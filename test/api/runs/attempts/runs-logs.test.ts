import { randomUUID } from 'node:crypto';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Caller } from '#test/support/api/caller.ts';
import { type System, startSystem } from '#test/support/system.ts';
import { commands, publish, runToEnd } from '#test/support/templates.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(async () => {
  await system?.close();
});

describe('the log of a run', () => {
  it('is read as entries in one sequence, page by page, until it is complete', async () => {
    const { administrator } = system;
    const id = await publish(
      administrator,
      'chatty',
      commands({ talk: 'for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done' }),
    );
    const run = await runToEnd(administrator, { template_id: id });
    const first = await administrator.get(`/runs/${run.id}/logs?limit=1`);
    expect(first.body).toMatchObject({ last_sequence: 1, complete: false });
    const rest = await administrator.get(`/runs/${run.id}/logs?after=1`);
    expect(rest.body.complete).toBe(true);
    const entries = [...first.body.entries, ...rest.body.entries];
    expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_entry, index) => index + 1));
    expect(entries.map((entry) => entry.text).join('')).toMatch(/line 1\n[\s\S]*line 5\n/);
    const again = await administrator.get(`/runs/${run.id}/logs?after=${rest.body.last_sequence}`);
    expect(again.body).toEqual({
      entries: [],
      last_sequence: rest.body.last_sequence,
      complete: true,
      removed_before: null,
    });
  });

  it('the events in the log of a run are paged by cursor, or read on after a sequence', async () => {
    const { administrator } = system;
    const run = await runToEnd(administrator, {
      template_id: await publish(administrator, 'paged', commands({ talk: 'true' })),
    });
    const all = (await administrator.get(`/runs/${run.id}/events`)).body;
    expect(all.next_cursor).toBeNull();
    const first = (await administrator.get(`/runs/${run.id}/events?limit=2`)).body;
    const second = (await administrator.get(`/runs/${run.id}/events?limit=1000&cursor=${first.next_cursor}`)).body;
    expect([...first.events, ...second.events]).toEqual(all.events);
    const later = (await administrator.get(`/runs/${run.id}/events?after=2`)).body;
    expect(later.events).toEqual(all.events.slice(2));
  });

  it.each([
    'logs?after=5489647449',
    'events?after=17179869183',
    'logs?limit=0x10',
    'events?limit=1e2',
    'logs?limit=%201',
  ])('answers 400 to %s, which is out of range', async (path) => {
    const { status, body } = await system.administrator.get(`/runs/${randomUUID()}/${path}`);
    expect([status, body.error]).toEqual([400, expect.stringContaining('expected a whole number from')]);
  });

  it('keeps bytes that are not text unchanged', async () => {
    const { administrator } = system;
    const id = await publish(administrator, 'bytes', commands({ print: "printf 'a\\000b\\377c\\n'" }));
    const run = await runToEnd(administrator, { template_id: id });
    expect(run.status).toBe('succeeded');
    const { body } = await administrator.get(`/runs/${run.id}/logs`);
    expect(body.entries.map((entry: { text: string }) => entry.text).join('')).toContain('a\0b\ufffdc');
  });

  it('has at most 100 streams to one caller, and other callers are not affected', async () => {
    const { administrator } = system;
    const gate = await publish(administrator, 'waiting', commands({ wait: 'sleep 600' }));
    const { id } = (await administrator.post('/runs', { template_id: gate })).body;
    const path = `/runs/${id}/logs/stream`;
    const streams = await Promise.all(Array.from({ length: 101 }, () => administrator.stream(path)));
    const refused = streams.filter(({ status }) => status === 429);
    expect(streams.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(refused.map(({ headers }) => headers.get('retry-after'))).toEqual(['10']);
    expect(await refused[0]?.json()).toMatchObject({
      error: expect.stringMatching(/^too many event streams and waiting requests/),
    });
    const user = { email: 'watcher@example.com', name: 'Watcher', password: 'correct horse battery', role: 'admin' };
    expect((await administrator.post('/users', user)).status).toBe(201);
    const others = await (await Caller.signIn(system.url, user.email, user.password)).stream(path);
    expect(others.status).toBe(200);
    await Promise.all([...streams.filter(({ status }) => status === 200), others].map(({ body }) => body?.cancel()));
    const isServedAgain = async () => {
      const stream = await administrator.stream(path);
      await stream.body?.cancel();
      return stream.status;
    };
    await expect.poll(isServedAgain).toBe(200);
    await administrator.post(`/runs/${id}/cancel`);
    await administrator.awaitRun(id, ['canceled']);
  });

  it('is streamed while the run lasts, resumes at the position of the reader, and ends with the run', async () => {
    const { administrator } = system;
    const id = await publish(
      administrator,
      'slow',
      commands({ talk: 'for i in 1 2 3 4; do echo tick $i; sleep 0.5; done' }),
    );
    const admitted = await administrator.post('/runs', { template_id: id });
    const events = await follow(admitted.body.id);
    expect(events.at(-1)).toMatchObject({ event: 'end' });
    const story = events.filter(({ event }) => event === 'event').map(({ data }) => JSON.parse(data));
    expect(story).toEqual((await administrator.get(`/runs/${admitted.body.id}/events`)).body.events);
    expect(story.at(-1)).toMatchObject({ type: 'run.finished', data: { status: 'succeeded' } });
    const logs = events.filter(({ event }) => event === 'log');
    expect(logs.length).toBeGreaterThan(2);
    const { body: page } = await administrator.get(`/runs/${admitted.body.id}/logs`);
    expect(logs.map(({ data }) => JSON.parse(data))).toEqual(page.entries);
    expect(logs.map(({ data }) => JSON.parse(data).text).join('')).toMatch(/tick 1[\s\S]*tick 4/);
    const resumed = await follow(admitted.body.id, logs[0]?.id);
    expect(resumed.filter(({ event }) => event === 'log').map(({ id }) => id)).toEqual(
      logs.slice(1).map(({ id }) => id),
    );
    const runs = events.filter(({ event }) => event === 'run').map(({ data }) => JSON.parse(data));
    expect(runs.length).toBeGreaterThan(1);
    expect(new Set(runs.map(({ revision }) => revision)).size, 'one `run` event per revision').toBe(runs.length);
    for (const invalid of ['1.5', '1e400', '-1', '0x1', '99999999999', '2147483648', 'last']) {
      const restarted = await follow(admitted.body.id, invalid);
      const shown = restarted.filter(({ event }) => event === 'log').map(({ id: sequence }) => sequence);
      expect(shown, invalid).toEqual(logs.map(({ id: sequence }) => sequence));
      expect(restarted.at(-1), invalid).toMatchObject({ event: 'end' });
    }
  });

  it('is refused after a sequence that no entry can have', async () => {
    const { administrator } = system;
    const id = await publish(administrator, 'bounded', commands({ say: 'echo something' }));
    const run = await runToEnd(administrator, { template_id: id });
    for (const list of ['logs', 'events']) {
      expect((await administrator.get(`/runs/${run.id}/${list}?after=2147483647`)).status).toBe(200);
      for (const after of ['2147483648', '1e15', '1e400'])
        expect((await administrator.get(`/runs/${run.id}/${list}?after=${after}`)).status, after).toBe(400);
    }
  });
});

describe('a deleted run', () => {
  it('has no log and no plan, is in no list, and keeps its status and version', async () => {
    const { administrator } = system;
    const id = await publish(administrator, 'short', commands({ say: 'echo something' }));
    const run = await runToEnd(administrator, { template_id: id });
    expect((await administrator.send('DELETE', `/runs/${run.id}`)).status).toBe(204);
    const after = await administrator.get(`/runs/${run.id}`);
    expect(after.body).toMatchObject({ status: 'succeeded', template_version: '1.0.0' });
    expect(after.body.deleted_at).not.toBeNull();
    expect((await administrator.get(`/runs/${run.id}/logs`)).body.entries).toEqual([]);
    expect((await administrator.get(`/runs/${run.id}/plan`)).status).toBe(404);
    expect((await administrator.get('/runs')).body.runs.map((listed: { id: string }) => listed.id)).not.toContain(
      run.id,
    );
    expect((await administrator.send('DELETE', `/runs/${run.id}`)).status).toBe(404);
  });
});

async function follow(runId: string, lastEventId?: string): Promise<EventSourceMessage[]> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const response = await system.administrator.stream(`/runs/${runId}/logs/stream`, lastEventId);
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
  return events;
}
