import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeApi } from '#api/document/document.ts';
import { operations, tags } from '#api/operations.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** The service accepts exactly the connections that the OpenAPI document describes. */
let api: TestApi;
let tenant: Tenant;
let ajv: Ajv2020;

beforeAll(async () => {
  api = await startApi({
    COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1',
    COORDINATOR_BASE_URL: 'https://delivery.example.com',
  });
  tenant = await makeTenant(api);
  ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', ...describeApi(operations, '1.2.3', tags) });
});
afterAll(() => api?.close());

const isPublished = (name: string, body: unknown) =>
  ajv.validate({ $ref: `document#/components/schemas/${name}` }, body);

const aws = { access_key_id: 'AKIA', secret_access_key: 'secret' };
const ids = { tenant_id: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11', client_id: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b12' };
const role = { role_arn: 'arn:aws:iam::123456789012:role/deploy' };
const pem = '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n';
const key = { private_key: pem, known_hosts: '127.0.0.1 ssh-ed25519 AAAA' };
const git = (url: string, credentials: object) => ({ kind: 'git', config: { url }, credentials });
const generic = (credentials: object) => ({ kind: 'generic', credentials });
const cloud = (config: object, credentials?: object) => ({
  kind: 'cloud',
  config,
  ...(credentials && { credentials }),
});
const kubernetes = (config: object, token = 'secret') => ({ kind: 'kubernetes', config, credentials: { token } });
const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`NAME_${at}`, 'x']));

const accepted: Record<string, object> = {
  'git over HTTPS with a token': git('https://127.0.0.1/acme/', { token: 'secret' }),
  'git over SSH with a key': git('ssh://git@127.0.0.1:2222/acme/', key),
  'keys of AWS': cloud({ provider: 'aws', region: 'eu-central-1' }, aws),
  'workload identity at AWS without credentials': cloud({ provider: 'aws', workload_identity: role }),
  'workload identity at AWS with empty credentials': cloud({ provider: 'aws', workload_identity: role }, {}),
  'a secret of Azure': cloud({ provider: 'azure', ...ids }, { client_secret: 'secret' }),
  'a cluster': kubernetes({ server: 'https://127.0.0.1:6443', namespace: 'team-a' }),
  'a registry': { kind: 'registry', config: { host: '127.0.0.1' }, credentials: { token: 'secret' } },
  'a variable': generic({ variables: { API_TOKEN: 'two\nlines ☃ 🦊' } }),
  'a file': generic({ files: { TF_TOKEN_FILE: 'x' } }),
};

const refused: Record<string, object> = {
  'git over HTTPS with a key': git('https://127.0.0.1/acme/', key),
  'git over SSH with a token': git('ssh://git@127.0.0.1/acme/', { token: 'secret' }),
  'git with a password in the URL': git('https://me:word@127.0.0.1/acme/', { token: 'secret' }),
  'git with a query in the URL': git('https://127.0.0.1/acme/?a=b', { token: 'secret' }),
  'git by another protocol': git('git://127.0.0.1/acme/', { token: 'secret' }),
  'git with a key that is none': git('ssh://git@127.0.0.1/', { ...key, private_key: 'secret' }),
  'AWS with a secret of Azure': cloud({ provider: 'aws' }, { client_secret: 'secret' }),
  'AWS without credentials': cloud({ provider: 'aws' }),
  'AWS with empty credentials': cloud({ provider: 'aws' }, {}),
  'workload identity with keys': cloud({ provider: 'aws', workload_identity: role }, aws),
  'a secret with spaces around it': kubernetes({ server: 'https://127.0.0.1' }, ' secret '),
  'a cluster without TLS': kubernetes({ server: 'http://127.0.0.1' }),
  'a vault with a user in its address': cloud({
    provider: 'vault',
    address: 'https://me@127.0.0.1',
    workload_identity: { role: 'r', audience: 'a' },
  }),
  'nothing to give': generic({}),
  'empty variables and files': generic({ variables: {}, files: {} }),
  'a variable with a NUL character': generic({ variables: { TOKEN: 'a\0b' } }),
  'a variable with half of a character': generic({ variables: { TOKEN: '\ud83e' } }),
  'a variable whose name begins with a digit': generic({ variables: { '1TOKEN': 'x' } }),
  'a variable that the executor sets, in lower case': generic({ variables: { ld_preload: 'x' } }),
  'a file whose name is reserved': generic({ files: { TF_LOG: 'x' } }),
  'more than 50 variables': generic({ variables: many }),
};

describe("the document's schema of a new connection", () => {
  const create = (body: object) =>
    tenant.owner.post('/admin/connections', { name: crypto.randomUUID(), team_id: tenant.team, ...body });

  it.each(Object.entries(accepted))('accepts %s, as the service does', async (_, body) => {
    const { status, text } = await create(body);
    expect([status, isPublished('CreateConnection', { name: 'x', ...body })], text).toEqual([201, true]);
  });

  it.each(Object.entries(refused))('refuses %s, as the service does', async (_, body) => {
    const { status, text } = await create(body);
    expect([status, isPublished('CreateConnection', { name: 'x', ...body })], text).toEqual([400, false]);
  });
});

it('a change of the config without credentials is refused by the document and by the service', async () => {
  const config = { host: '127.0.0.1' };
  const made = await tenant.owner.make('/admin/connections', {
    name: 'registry',
    team_id: tenant.team,
    kind: 'registry',
    config,
    credentials: { token: 'secret' },
  });
  expect((await tenant.owner.patch(`/admin/connections/${made.id}`, { config })).status).toBe(400);
  expect(isPublished('UpdateConnection', { config })).toBe(false);
  expect(isPublished('UpdateConnection', { config, credentials: { token: 'secret' } })).toBe(true);
});
