import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStreams } from '#api/edge/limits/stream-limit.ts';
import { addPerson, addTeam, type Person, publish, sayHello } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';

let api: TestApi;
let owner: Person;
let teamId: string;
let templateId: string;
beforeAll(async () => {
  api = await startApi();
  ({ teamId } = await addTeam(api.orm));
  owner = await addPerson(api, 'operator', { teams: { [teamId]: 'owner' } });
  templateId = await publish(owner.caller, sayHello, teamId);
});
afterAll(() => api?.close());

const addMember = () => addPerson(api, 'requester', { teams: { [teamId]: 'viewer' } });
const execute = (sql: string, ...params: unknown[]) => api.orm.em.fork().execute(sql, params);
const change = (id: string) =>
  execute('update runs set revision = revision + 1, message = ? where id = ?', randomUUID(), id);

async function admit(): Promise<string> {
  const { body, status, text } = await owner.caller.post('/runs', {
    template_id: templateId,
    instance: `i-${randomUUID()}`,
  });
  expect(status, text).toBe(202);
  return body.id;
}

/** Sends a request and measures how long its answer takes. */
async function timed(person: Person, path: string) {
  const begun = performance.now();
  const answer = await person.caller.get(path);
  return { ...answer, seconds: (performance.now() - begun) / 1000 };
}

/** Sends a request, and returns its answer to come once the service has begun to wait for a change. */
async function startWaiting(person: Person, path: string) {
  const opened = vi.spyOn(openStreams, 'open');
  const answer = timed(person, path);
  await expect.poll(() => opened.mock.calls.length).toBe(1);
  opened.mockRestore();
  return { answer };
}

describe('reading a run with wait', () => {
  it("answers at the run's next change, with the new revision", async () => {
    const id = await admit();
    const waiting = await startWaiting(await addMember(), `/runs/${id}?wait=30s`);
    await change(id);
    const { status, body, headers, seconds } = await waiting.answer;
    expect([status, body.revision, headers.get('etag')]).toEqual([200, 2, '"2"']);
    expect(seconds).toBeLessThan(10);
  });

  it('answers at once if the run has another revision than the one in the request', async () => {
    const id = await admit();
    await change(id);
    const { body, seconds } = await timed(owner, `/runs/${id}?wait=30s&revision=1`);
    expect(body.revision).toBe(2);
    expect(seconds).toBeLessThan(5);
  });

  it('misses no change between two requests', async () => {
    const id = await admit();
    const seen: number[] = [];
    for (let revision = 1; revision < 4; ) {
      await change(id);
      const { body } = await timed(owner, `/runs/${id}?wait=20s&revision=${revision}`);
      revision = body.revision;
      seen.push(revision);
    }
    expect(seen).toEqual([2, 3, 4]);
  });

  it('answers with the unchanged run when the wait is over', async () => {
    const id = await admit();
    const { status, body, seconds } = await timed(owner, `/runs/${id}?wait=PT1S&revision=1`);
    expect([status, body.revision]).toEqual([200, 1]);
    expect(seconds).toBeGreaterThan(0.9);
  });

  it('answers at once if the run has ended', async () => {
    const id = await admit();
    await owner.caller.post(`/runs/${id}/cancel`, { force: true });
    const { body, seconds } = await timed(owner, `/runs/${id}?wait=30s`);
    expect(body.status).toBe('canceled');
    expect(seconds).toBeLessThan(5);
  });

  it.each<[string, (person: Person) => Promise<unknown>, number]>([
    [
      'the credential is revoked',
      ({ keyId }) => execute('update api_keys set revoked_at = now() where id = ?', keyId),
      401,
    ],
    ['the user is disabled', ({ id }) => execute('update principals set enabled = false where id = ?', id), 403],
    ['the membership ends', ({ id }) => execute('delete from team_members where principal_id = ?', id), 404],
  ])('is refused within 5 seconds after %s', async (_what, revoke, refusal) => {
    const person = await addMember();
    const id = await admit();
    const waiting = await startWaiting(person, `/runs/${id}?wait=60s`);
    await revoke(person);
    const { status, seconds } = await waiting.answer;
    expect([401, refusal]).toContain(status);
    expect(seconds).toBeLessThan(8);
  });

  it('stops waiting once the client has disconnected', async () => {
    const person = await addMember();
    const id = await admit();
    const stop = new AbortController();
    const headers = { 'x-api-key': person.key };
    let refused = 0;
    const waits = Array.from({ length: 110 }, async () => {
      const answer = await fetch(`${api.url}/api/v1/runs/${id}?wait=60s`, { headers, signal: stop.signal });
      if (answer.status === 429) refused += 1;
    });
    const settled = Promise.allSettled(waits);
    await expect.poll(() => refused).toBe(10);
    const probe = async () => (await person.caller.get(`/runs/${id}?wait=1s&revision=1`)).status;
    expect(await probe()).toBe(429);
    expect((await person.caller.get(`/runs/${id}`)).status).toBe(200);
    expect((await owner.caller.get(`/runs/${id}?wait=1s`)).status).toBe(200);
    stop.abort();
    await settled;
    await expect.poll(probe, { interval: 500 }).toBe(200);
  });

  it('is not answered at a step of the run with until=settled, but when the run waits for approval or has ended', async () => {
    const id = await admit();
    const setStatus = (status: string, phase: string) =>
      execute('update runs set revision = revision + 1, status = ?, phase = ? where id = ?', status, phase, id);
    const waiting = await startWaiting(await addMember(), `/runs/${id}?wait=30s&until=settled`);
    let isAnswered = false;
    void waiting.answer.then(() => {
      isAnswered = true;
    });
    await setStatus('running', 'planning');
    await sleep(1_200);
    expect(isAnswered).toBe(false);
    await setStatus('pending_approval', 'approval');
    const { status, body } = await waiting.answer;
    expect([status, body.status, body.revision]).toEqual([200, 'pending_approval', 3]);
    const further = await startWaiting(await addMember(), `/runs/${id}?wait=30s&until=settled&revision=3`);
    await owner.caller.post(`/runs/${id}/cancel`, { force: true });
    expect((await further.answer).body.status).toBe('canceled');
  });

  it.each([
    'wait=61s',
    'wait=0s',
    'wait=30',
    'wait=forever',
    'revision=1',
    'wait=5s&revision=0',
    'until=settled',
    'wait=5s&until=never',
  ])('answers 400 to %s', async (query) => {
    const { status, body } = await owner.caller.get(`/runs/${await admit()}?${query}`);
    expect([status, body.error]).toEqual([400, expect.stringMatching(/wait|revision|until/)]);
  });

  it('answers when the server stops', async () => {
    const stopping = await startApi();
    const team = await addTeam(stopping.orm);
    const person = await addPerson(stopping, 'operator', { teams: { [team.teamId]: 'owner' } });
    const template = await publish(person.caller, sayHello, team.teamId);
    const { id } = (await person.caller.post('/runs', { template_id: template })).body;
    const waiting = await startWaiting(person, `/runs/${id}?wait=60s`);
    await stopping.close();
    const { status, seconds } = await waiting.answer;
    expect(status).toBe(200);
    expect(seconds).toBeLessThan(20);
  });
});
