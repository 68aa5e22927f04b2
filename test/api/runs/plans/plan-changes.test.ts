import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResourceChange } from '#domain/runs/plans/model.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, RunSteps } from '#test/support/runs/run-steps.ts';

/** The pages of a plan's changes. */
let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let worker: string;
let run: string;

const change = (address: string, action: ResourceChange['action'], before: unknown, after: unknown) =>
  ({ address, action, before, after }) as ResourceChange;
const changes = [
  change('added.a', 'create', null, { name: 'x' }),
  change('changed.tags', 'update', { tags: { a: '1' }, size: 'Small' }, { tags: { a: '2' }, size: 'Small' }),
  change('destroyed.a', 'delete', { name: 'x' }, null),
  change('read.a', 'read', null, {}),
  change('replaced.a', 'replace', { name: '100%_' }, { name: 'y' }),
  change('changed.size', 'update', { size: 'Small' }, { size: 'Large' }),
];

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
  worker = await steps.worker('none');
  run = await planned(changes);
});
afterAll(() => api?.close());

async function planned(planChanges: readonly ResourceChange[]): Promise<string> {
  const { runId, attemptId } = await steps.planning(worker, 'none');
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan({ changes: planChanges }) });
  return runId;
}

async function list(query = '', runId = run) {
  const { status, body, text } = await admin.get(`/runs/${runId}/plan/changes?${query}`);
  expect(status, text).toBe(200);
  return body;
}
const addresses = async (query: string) =>
  (await list(query)).changes.map(({ address }: { address: string }) => address);

describe('the changes of a plan', () => {
  it('are listed with position and kind, destroys first, and are counted', async () => {
    const body = await list();
    const places = body.changes.map(({ position, kind, address }: Record<string, unknown>) => [
      position,
      kind,
      address,
    ]);
    expect(places).toEqual([
      [1, 'destroy', 'destroyed.a'],
      [2, 'replace', 'replaced.a'],
      [3, 'change', 'changed.tags'],
      [4, 'change', 'changed.size'],
      [5, 'add', 'added.a'],
      [6, 'read', 'read.a'],
    ]);
    expect(body.counts).toEqual({
      ...{ destroy: 1, replace: 1, change: 2, add: 1, forget: 0, import: 0, move: 0, read: 1, unchanged: 0 },
    });
    expect(body).toMatchObject({ run_id: run, total: 6, matching: 6, next_after: null });
    expect(body.digest).toBe((await admin.get(`/runs/${run}/plan`)).body.digest);
    expect(body.changes[2]).toMatchObject({ before: changes[1]?.before, after: changes[1]?.after });
  });

  it('are read page by page, and keep their places under a filter', async () => {
    const first = await list('limit=2');
    expect([first.changes.length, first.next_after]).toEqual([2, 2]);
    expect((await list('limit=4&after=2')).changes[0].position).toBe(3);
    const filtered = await list('kind=change&limit=1&after=3');
    expect(filtered).toMatchObject({ changes: [{ position: 4 }], matching: 2, total: 6, next_after: null });
    expect((await list('after=6')).changes).toEqual([]);
  });

  it('are found by the address, or by an attribute that changes, in either case', async () => {
    expect(await addresses('q=CHANGED.')).toEqual(['changed.tags', 'changed.size']);
    expect(await addresses('q=large')).toEqual(['changed.size']);
    // The size of the other resource stays.
    expect(await addresses('q=small')).toEqual(['changed.size']);
    expect(await addresses('q=name')).toEqual(['destroyed.a', 'replaced.a', 'added.a']);
    expect(await addresses(`q=${encodeURIComponent('100%_')}`)).toEqual(['replaced.a']);
    expect(await addresses('q=x&kind=add')).toEqual(['added.a']);
    expect(await addresses('q=nothing+at+all')).toEqual([]);
  });

  it('the changes of a plan that are values other than objects are listed, too', async () => {
    const odd = await planned([change('odd', 'update', [1], 'text')]);
    expect((await list('q=odd', odd)).changes).toMatchObject([{ before: [1], after: 'text' }]);
    expect((await list('q=text', odd)).changes).toEqual([]);
  });

  it('answer 400 to a wrong query, and 404 without a plan', async () => {
    for (const query of ['kind=delete', 'after=-1', 'limit=201', 'q=', 'other=1'])
      expect((await admin.get(`/runs/${run}/plan/changes?${query}`)).status, query).toBe(400);
    const { runId } = await steps.planning(worker, 'none');
    expect((await admin.get(`/runs/${runId}/plan/changes`)).status).toBe(404);
  });
});
