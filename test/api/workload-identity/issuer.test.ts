import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type IdentityStage, openIdentityStage } from '#test/support/workload-identity/identity-stage.ts';

const issuer = 'https://coordinator.example.com';
const configurationUrl = '/.well-known/openid-configuration';
const keysUrl = '/.well-known/jwks.json';
let stage: IdentityStage;
let unknown: TestApi;
beforeAll(async () => {
  [stage, unknown] = await Promise.all([openIdentityStage(issuer), startApi()]);
});
afterAll(async () => {
  await stage?.api.close();
  await unknown?.close();
});

const get = (api: TestApi, url: string, headers: Record<string, string> = {}) =>
  api.app.inject({ method: 'GET', url, headers });

describe('the issuer', () => {
  it('is described without a credential, and verifiers may cache the responses for five minutes', async () => {
    const [configuration, keys] = await Promise.all([get(stage.api, configurationUrl), get(stage.api, keysUrl)]);
    for (const { statusCode, headers } of [configuration, keys]) {
      expect(statusCode).toBe(200);
      expect(headers).toMatchObject({
        'cache-control': 'public, max-age=300',
        'content-type': 'application/json; charset=utf-8',
      });
    }
    expect(configuration.json()).toMatchObject({
      issuer,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      claims_supported: expect.arrayContaining(['sub', 'environment_id', 'phase']),
    });
    expect(keys.json()).toEqual({
      keys: [{ kty: 'RSA', use: 'sig', alg: 'RS256', kid: expect.any(String), n: expect.any(String), e: 'AQAB' }],
    });
  });

  it('does not depend on the host that a request claims', async () => {
    const claims: Record<string, string>[] = [{ host: 'localhost' }, { 'x-forwarded-host': 'evil.example' }];
    for (const headers of claims) {
      const { body } = await get(stage.api, configurationUrl, headers);
      expect(JSON.parse(body).issuer).toBe(issuer);
    }
  });

  it('is not described while the service has no public URL', async () => {
    for (const url of [configurationUrl, keysUrl]) {
      const answer = await get(unknown, url);
      expect([answer.statusCode, answer.json().error]).toEqual([404, expect.stringContaining('COORDINATOR_BASE_URL')]);
    }
  });
});

describe('the signing keys', () => {
  it('are shown only to administrators, without private keys', async () => {
    const [root, other] = [await stage.api.addUser('admin'), await stage.api.addUser('operator')];
    const listed = await root.get('/admin/signing-keys');
    expect(listed.body).toEqual({
      signing_keys: [
        {
          id: expect.any(String),
          key_id: expect.any(String),
          status: 'signing',
          signs_from: expect.any(String),
          published_until: null,
          created_at: expect.any(String),
        },
      ],
    });
    expect((await other.get('/admin/signing-keys')).status).toBe(403);
    expect((await other.post('/admin/signing-keys/rotate', {})).status).toBe(403);
  });

  it('are not rotated again while the next one is published but does not sign yet', async () => {
    const root = await stage.api.addUser('admin');
    const answers = await Promise.all([1, 2, 3].map(() => root.post('/admin/signing-keys/rotate', {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused).toMatchObject({ headers: { 'x-error-code': 'signing_key_upcoming' } });
  });
});
