import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let mine: Tenant;
let others: Tenant;
let colleague: ApiUser;
let stranger: ApiUser;

beforeAll(async () => {
  api = await startApi();
  mine = await makeTenant(api);
  others = await makeTenant(api);
  colleague = await api.addUser('requester', 'Ottilie Lang');
  stranger = await api.addUser('requester', 'Ottilie Fern');
  await join(mine, colleague, 'member');
  await join(others, stranger, 'member');
});
afterAll(() => api?.close());

const find = async (caller: ApiUser, query: Record<string, string>) => {
  const { status, body, text } = await caller.get(`/people?${new URLSearchParams(query)}`);
  expect(status, text).toBe(200);
  return body.people.map(({ id }: { id: string }) => id);
};

describe('the search of people', () => {
  it('finds members of an organization of the caller by name, address or id, and nobody else', async () => {
    const { owner } = mine;
    expect(await find(owner, { q: 'OTTILIE' })).toEqual([colleague.id]);
    expect(await find(owner, { q: colleague.email.slice(0, -3).toUpperCase() })).toEqual([colleague.id]);
    expect(await find(owner, { q: colleague.id })).toEqual([colleague.id]);
    for (const q of [stranger.id, stranger.email, 'Fern']) expect(await find(owner, { q }), q).toEqual([]);
    expect(await find(colleague, { q: 'Ottilie', organization_id: mine.organization })).toEqual([colleague.id]);
  });

  it('lists everybody whom the caller knows if there is no text, and only the requested kind', async () => {
    expect((await find(mine.owner, {})).toSorted()).toEqual([mine.owner.id, colleague.id].toSorted());
    expect(await find(mine.owner, { type: 'service_account' })).toEqual([]);
  });

  it('finds nobody in an organization that is hidden from the caller, and everybody for users who manage users', async () => {
    const root = await api.addUser('admin');
    await join(others, colleague, 'member');
    expect((await mine.owner.get(`/people?organization_id=${others.organization}`)).status).toBe(404);
    expect(await find(root, { q: 'Ottilie', organization_id: others.organization })).toEqual([
      stranger.id,
      colleague.id,
    ]);
    expect(await find(root, { q: 'Ottilie F' })).toEqual([stranger.id]);
  });
});
