import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findStoredPrincipal, type StoredAuthority } from '#domain/identity/stored-authority.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let admin: ApiUser;

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api.close());

/** Somebody with the API key that `addUser` issues. */
async function addKeyHolder(): Promise<{ user: ApiUser; authority: StoredAuthority }> {
  const user = await api.addUser('maintainer');
  const [key] = await api.rows<{ id: string }>('select id from api_keys where principal_id = ?', [user.id]);
  const authority = { authorityId: user.id, credentialId: key?.id ?? '', responsibleUserId: admin.id };
  return { user, authority };
}

const find = (authority: StoredAuthority) => findStoredPrincipal(api.services.orm.em.fork(), authority);

describe('a stored authority', () => {
  it('has the present role, the key that was used, and the person who answered for it', async () => {
    const { user, authority } = await addKeyHolder();
    await api.rows(`update principals set role = 'requester' where id = ?`, [user.id]);
    expect(await find(authority)).toMatchObject({
      id: user.id,
      role: 'requester',
      credential: { type: 'api_key', id: authority.credentialId },
      responsibleUserId: admin.id,
    });
  });

  it('outlives the session that was used', async () => {
    const { user } = await addKeyHolder();
    const signedIn = await api.signIn(user);
    const [session] = await api.rows<{ id: string }>('select id from sessions where user_id = ?', [user.id]);
    const authority = { authorityId: user.id, credentialId: session?.id ?? '', responsibleUserId: user.id };
    await signedIn.delete('/auth/sessions/current');
    expect(await find(authority)).toMatchObject({ id: user.id, credential: { type: 'system' } });
  });

  it.each([
    ['gone', `update principals set deleted_at = now() where id = ?`],
    ['disabled', `update principals set enabled = false where id = ?`],
    ['key_revoked', `update api_keys set revoked_at = now() where principal_id = ?`],
    ['key_expired', `update api_keys set expires_at = now() - interval '1 minute' where principal_id = ?`],
  ])('has ended with the reason %s', async (reason, statement) => {
    const { user, authority } = await addKeyHolder();
    await api.rows(statement, [user.id]);
    await expect(find(authority)).rejects.toMatchObject({ name: 'AuthorityEnded', reason });
  });
});
