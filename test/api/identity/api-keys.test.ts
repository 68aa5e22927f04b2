import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maxActiveKeys } from '#domain/identity/api-keys/changes.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const keys = '/profile/api-keys';
const regenerate = '/profile/api-key/regenerate';
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** A user with a session, which changes of keys do not end. */
async function signedIn(role: 'requester' | 'maintainer' = 'requester'): Promise<ApiUser> {
  return api.signIn(await api.addUser(role));
}

const by = (user: ApiUser, key: string) => new ApiUser(api, { 'x-api-key': key }, user);
const works = async (user: ApiUser, key: string) => (await by(user, key).get('/auth/whoami')).status === 200;

async function make(user: ApiUser, body: object = {}, path = keys) {
  const answer = await user.post(path, path === keys ? { name: 'ci', ...body } : body);
  expect(answer.status, answer.text).toBe(201);
  return { id: answer.body.api_key.id as string, key: answer.body.key as string, view: answer.body.api_key };
}

const activeKeys = (user: ApiUser, kind: string) =>
  api.rows(
    `select id from api_keys where principal_id = ? and kind = ? and revoked_at is null
        and coalesce(expires_at > now(), true)`,
    [user.id, kind],
  );

it.each(['0001-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59'])(
  'a key that would expire at %s, outside the years 1 to 9999 of UTC, is refused',
  async (expires_at) => {
    const user = await signedIn();
    for (const path of [keys, regenerate]) {
      const { status, body } = await user.post(path, { ...(path === keys && { name: 'ci' }), expires_at });
      expect([status, body.error]).toEqual([400, expect.stringContaining('in the years 0001 to 9999 of UTC')]);
    }
  },
);

describe('the profile key', () => {
  it('is revoked by its regeneration, which keeps personal keys', async () => {
    const user = await signedIn();
    const personal = await make(user);
    const first = await make(user, {}, regenerate);
    expect(first.view).toMatchObject({ kind: 'profile', state: 'active', expires_at: null });
    const second = await make(user, { expires_at: inHours(1) }, regenerate);
    expect(await works(user, first.key)).toBe(false);
    expect(await works(user, second.key)).toBe(true);
    expect(await works(user, personal.key)).toBe(true);
    expect((await user.get(`${keys}/${first.id}`)).body).toMatchObject({ state: 'revoked' });
  });

  it('can be regenerated without a body', async () => {
    const user = await signedIn();
    expect((await user.send('POST', regenerate)).status).toBe(201);
  });

  it('exists only once after concurrent regenerations', async () => {
    const user = await signedIn();
    const answers = await Promise.all(Array.from({ length: 20 }, () => user.post(regenerate, {})));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    const working = await Promise.all(answers.map(({ body }) => works(user, body.key)));
    expect(working.filter(Boolean)).toHaveLength(1);
    expect(await activeKeys(user, 'profile')).toHaveLength(1);
  });

  it('can regenerate itself only once, and then answers 401', async () => {
    const user = await signedIn();
    const { key } = await make(user, {}, regenerate);
    const answers = await Promise.all(Array.from({ length: 8 }, () => by(user, key).post(regenerate, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(401)]);
    expect(await activeKeys(user, 'profile')).toHaveLength(1);
  });

  it('answers 409 to a rotation', async () => {
    const user = await signedIn();
    const { id } = await make(user, {}, regenerate);
    const answer = await user.post(`${keys}/${id}/rotate`, {});
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('regenerate') } });
  });
});

describe('revoking a key that is revoked already', () => {
  it('answers 409, for a personal key and a profile key', async () => {
    const user = await signedIn();
    const [personal, profile] = [await make(user), await make(user, {}, regenerate)];
    for (const { id } of [personal, profile]) {
      expect((await user.delete(`${keys}/${id}`)).status).toBe(204);
      const again = await user.delete(`${keys}/${id}`);
      expect(again).toMatchObject({ status: 409, body: { error: 'the key is revoked already' } });
      expect((await user.get(`${keys}/${id}`)).body).toMatchObject({ state: 'revoked' });
    }
  });
});

describe('rotating a key', () => {
  it('revokes the old key at once and gives the new one its name and lifetime', async () => {
    const user = await signedIn();
    const old = await make(user, { name: 'deploy', expires_at: inHours(48) });
    await api.rows(
      `update api_keys set created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day' where id = ?`,
      [old.id],
    );
    const fresh = await make(user, {}, `${keys}/${old.id}/rotate`);
    expect(fresh.view).toMatchObject({ name: 'deploy', kind: 'personal', rotated_from: old.id });
    expect(Math.abs(Date.parse(fresh.view.expires_at) - Date.parse(inHours(48)))).toBeLessThan(60_000);
    expect([await works(user, old.key), await works(user, fresh.key)]).toEqual([false, true]);
  });

  it('rotating a key with an overlap keeps the old key valid that long, but never past its expiry', async () => {
    const user = await signedIn();
    const [endless, short] = [await make(user), await make(user, { expires_at: inHours(1) })];
    for (const { id } of [endless, short]) await make(user, { overlap: 'PT2H' }, `${keys}/${id}/rotate`);
    const endOf = async (id: string) => Date.parse((await user.get(`${keys}/${id}`)).body.expires_at);
    expect(Math.abs((await endOf(endless.id)) - Date.parse(inHours(2)))).toBeLessThan(60_000);
    expect(Math.abs((await endOf(short.id)) - Date.parse(inHours(1)))).toBeLessThan(60_000);
    expect(await works(user, endless.key)).toBe(true);
    await api.rows(`update api_keys set expires_at = now() where id = ?`, [endless.id]);
    expect(await works(user, endless.key)).toBe(false);
  });

  it.each(['P8D', 'soon', '-1h', 5, 'PT0.5S'])('rotating a key with an overlap of %s answers 400', async (overlap) => {
    const user = await signedIn();
    const { id, key } = await make(user);
    const answer = await user.post(`${keys}/${id}/rotate`, { overlap });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('overlap') } });
    expect(await works(user, key)).toBe(true);
  });

  it('succeeds once for concurrent requests', async () => {
    const user = await signedIn();
    for (const overlap of ['1h', '0s']) {
      const { id } = await make(user);
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => user.post(`${keys}/${id}/rotate`, { overlap })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    }
  });

  it('is refused for a key that has expired, was revoked or belongs to another user', async () => {
    const [user, other] = [await signedIn(), await signedIn()];
    const [revoked, expired, foreign] = [await make(user), await make(user), await make(other)];
    await user.delete(`${keys}/${revoked.id}`);
    await api.rows(`update api_keys set expires_at = now() where id = ?`, [expired.id]);
    expect((await user.post(`${keys}/${revoked.id}/rotate`, {})).status).toBe(409);
    expect((await user.post(`${keys}/${expired.id}/rotate`, {})).status).toBe(409);
    expect((await user.post(`${keys}/${foreign.id}/rotate`, {})).status).toBe(404);
    expect(await works(other, foreign.key)).toBe(true);
  });
});

describe('the number of keys', () => {
  it('is limited, counting only active keys', async () => {
    const user = await signedIn();
    const answers = await Promise.all(
      Array.from({ length: maxActiveKeys + 5 }, () => user.post(keys, { name: 'many' })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(maxActiveKeys - 1); // the user had one from the start
    expect(answers.find(({ status }) => status === 409)?.body.error).toContain(`${maxActiveKeys} active keys`);
    const [one, two] = made.map(({ body }) => body.api_key.id);
    expect((await user.post(`${keys}/${one}/rotate`, { overlap: '1h' })).status).toBe(409);
    expect((await user.post(`${keys}/${one}/rotate`, {})).status).toBe(201);
    await api.rows('update api_keys set expires_at = now() where id = ?', [two]);
    await make(user);
    expect((await user.post(keys, { name: 'one more' })).status).toBe(409);
  });

  it('may include keys with the same name', async () => {
    const user = await signedIn();
    expect((await make(user)).id).not.toBe((await make(user)).id);
  });
});

describe('the last use of a key', () => {
  it('is recorded in the background, without a wait of the request for a lock on the record', async () => {
    const user = await signedIn();
    const { id, key } = await make(user);
    const blocker = api.services.orm.em.fork();
    await blocker.begin();
    await blocker.execute(`insert into api_key_uses (key_id, last_used_at) values (?, now() - interval '1 day')`, [id]);
    const answers = await Promise.all(Array.from({ length: 30 }, () => works(user, key)));
    expect(answers).not.toContain(false);
    await blocker.rollback();
    await api.services.keyUses.settle();
    const lastUse = async () => Date.parse((await user.get(`${keys}/${id}`)).body.last_used_at);
    expect(Date.now() - (await lastUse())).toBeLessThan(60_000);
  });

  it('a last use of a key that could not be recorded does not fail the request, and the next use is recorded', async () => {
    const user = await signedIn();
    const { id, key } = await make(user);
    await api.rows('alter table api_key_uses rename to away');
    api.services.keyUses.note(id);
    await api.services.keyUses.settle();
    await api.rows('alter table away rename to api_key_uses');
    expect(await works(user, key)).toBe(true);
    await api.services.keyUses.settle();
    expect((await user.get(`${keys}/${id}`)).body.last_used_at).not.toBeNull();
  });

  it('the last uses of many keys at once are recorded in a few writes', async () => {
    const user = await signedIn();
    const made = await Promise.all(Array.from({ length: 20 }, () => make(user)));
    await api.rows(`create table statements (at timestamptz default clock_timestamp())`);
    await api.rows(
      `create function note_statement() returns trigger language plpgsql as 'begin insert into statements default values; return null; end'`,
    );
    await api.rows(
      `create trigger note_statement after insert on api_key_uses for each statement execute function note_statement()`,
    );
    await Promise.all(made.flatMap(({ key }) => Array.from({ length: 5 }, () => works(user, key))));
    await api.services.keyUses.settle();
    const noted = await api.rows(
      `select 1 from api_key_uses u join api_keys k on k.id = u.key_id where k.principal_id = ?`,
      [user.id],
    );
    expect(noted).toHaveLength(20);
    expect((await api.rows('select 1 from statements')).length).toBeLessThan(15);
    await api.rows('drop trigger note_statement on api_key_uses');
  });
});

describe('the audit of API keys', () => {
  it('records the changes of keys, without any key', async () => {
    const user = await signedIn();
    const made = await make(user, { name: 'ci' });
    const rotated = await make(user, { overlap: '1h' }, `${keys}/${made.id}/rotate`);
    await user.delete(`${keys}/${rotated.id}`);
    const profile = await make(user, {}, regenerate);
    const again = await make(user, {}, regenerate);
    const rows = await api.rows<{ action: string; after: object; resource_id: string }>(
      `select action, resource_id, after from audit_records
        where actor_id = ? and resource_type = 'api_keys' and outcome = 'committed' order by at`,
      [user.id],
    );
    expect(rows).toMatchObject([
      {
        action: 'api_key.created',
        resource_id: made.id,
        after: { name: 'ci', kind: 'personal', principal_id: user.id },
      },
      { action: 'api_key.rotated', resource_id: rotated.id, after: { replaces: made.id } },
      { action: 'api_key.revoked', resource_id: rotated.id },
      { action: 'api_key.regenerated', resource_id: profile.id, after: { kind: 'profile' } },
      { action: 'api_key.regenerated', resource_id: again.id, after: { replaces: profile.id } },
    ]);
    const text = JSON.stringify(await api.rows('select * from audit_records where actor_id = ?', [user.id]));
    for (const { key } of [made, rotated, profile, again]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(key.slice(3, 20));
    }
  });
});

describe('a list of keys', () => {
  it('shows only the caller’s keys, page by page, without verifiers', async () => {
    const [user, other] = [await signedIn(), await signedIn()];
    const made = [];
    for (let index = 0; index < 3; index += 1) made.push(await make(user));
    await make(other);
    const first = await user.get(`${keys}?limit=2`);
    const second = await user.get(`${keys}?limit=2&cursor=${first.body.next_cursor}`);
    const listed = [...first.body.api_keys, ...second.body.api_keys].map(({ id }: { id: string }) => id);
    expect(listed.slice(0, 3)).toEqual(made.map(({ id }) => id).reverse());
    expect(first.text + second.text).not.toMatch(/verifier/);
    for (const { key } of made) expect(first.text + second.text).not.toContain(key.slice(0, -4));
  });
});
