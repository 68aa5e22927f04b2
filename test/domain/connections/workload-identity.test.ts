import { describe, expect, it } from 'vitest';
import { checkSettings } from '#domain/connections/check.ts';
import { kindOf } from '#domain/connections/kinds/kinds.ts';
import { parseOutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';

const issuer = 'https://coordinator.example.com';
const identity = { token: 'header.payload.signature', runId: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11' };
const ids = { tenant_id: identity.runId, client_id: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b12' };
const pool = 'projects/12/locations/global/workloadIdentityPools/runs/providers/coordinator';

const check = (config: object, credentials: object = {}, origin: string | null = issuer) =>
  checkSettings({ kind: 'cloud', config, credentials }, { outbound: parseOutboundPolicy([]), issuer: origin });

async function deliver(config: object) {
  const { audienceOf, deliver: deliverOf } = kindOf('cloud');
  const checked = await check(config);
  const delivery = deliverOf(checked.config, checked.credentials, identity);
  const names = [delivery.settings ?? {}, delivery.variables, delivery.files].flatMap(Object.keys).sort();
  expect(checked.provides, 'readers are told of exactly these').toEqual(names);
  return { audience: audienceOf?.(checked.config), ...delivery };
}

describe('a cloud connection with workload identity', () => {
  it('lets the SDKs of AWS assume a role, in a session that names the run', async () => {
    const role = 'arn:aws:iam::123456789012:role/deploy';
    expect(await deliver({ provider: 'aws', region: 'eu-central-1', workload_identity: { role_arn: role } })).toEqual({
      audience: 'sts.amazonaws.com',
      settings: {
        AWS_REGION: 'eu-central-1',
        AWS_DEFAULT_REGION: 'eu-central-1',
        AWS_ROLE_ARN: role,
        AWS_ROLE_SESSION_NAME: `run-${identity.runId}`,
      },
      variables: {},
      files: { AWS_WEB_IDENTITY_TOKEN_FILE: identity.token, WORKLOAD_IDENTITY_TOKEN_FILE: identity.token },
    });
  });

  it("gives Google's libraries a configuration that names the file of the token", async () => {
    const account = 'deploy@acme.iam.gserviceaccount.com';
    const workload = { provider: pool, service_account: account };
    const { audience, settings, files } = await deliver({
      ...{ provider: 'google', project: 'acme-prod', workload_identity: workload },
    });
    expect([audience, settings]).toEqual([
      `https://iam.googleapis.com/${pool}`,
      { GOOGLE_PROJECT: 'acme-prod', GOOGLE_CLOUD_PROJECT: 'acme-prod' },
    ]);
    const file = files['GOOGLE_APPLICATION_CREDENTIALS'] as { text: string; links: Record<string, string> };
    const [[mark, variable] = []] = Object.entries(file.links);
    expect([variable, files[variable ?? '']]).toEqual(['WORKLOAD_IDENTITY_TOKEN_FILE', identity.token]);
    expect(JSON.parse(file.text)).toMatchObject({
      type: 'external_account',
      audience: `//iam.googleapis.com/${pool}`,
      credential_source: { file: mark },
      service_account_impersonation_url: expect.stringContaining(`/${account}:generateAccessToken`),
    });
    expect(file.text).not.toContain(identity.token);
  });

  it('gives the providers and SDKs of Azure a token file and the ids of the application', async () => {
    const { audience, settings, files } = await deliver({ provider: 'azure', ...ids, workload_identity: {} });
    expect(audience).toBe('api://AzureADTokenExchange');
    expect(settings).toMatchObject({
      ARM_USE_OIDC: 'true',
      ARM_CLIENT_ID: ids.client_id,
      AZURE_TENANT_ID: ids.tenant_id,
    });
    expect(files).toMatchObject({
      ARM_OIDC_TOKEN_FILE_PATH: identity.token,
      AZURE_FEDERATED_TOKEN_FILE: identity.token,
    });
  });

  it('gives the provider of Vault and OpenBao a token for its JWT login', async () => {
    const workload = { role: 'deploy', audience: 'vault' };
    const config = { provider: 'vault', address: 'https://vault.example.com:8200', workload_identity: workload };
    expect(await deliver(config)).toMatchObject({
      audience: 'vault',
      settings: {
        VAULT_ADDR: config.address,
        BAO_ADDR: config.address,
        VAULT_JWT_ROLE: 'deploy',
        VAULT_JWT_MOUNT: 'jwt',
      },
      variables: { TERRAFORM_VAULT_AUTH_JWT: identity.token },
    });
  });

  it('gives any other tool a token for the audience that it names', async () => {
    expect(
      await deliver({ provider: 'other', workload_identity: { audience: 'https://api.example.com' } }),
    ).toMatchObject({
      audience: 'https://api.example.com',
      files: { WORKLOAD_IDENTITY_TOKEN_FILE: identity.token },
    });
  });

  it('refuses credentials', async () => {
    const config = { provider: 'azure', ...ids, workload_identity: {} };
    await expect(check(config, { client_secret: 'kept' })).rejects.toThrow('no credentials are kept');
    await expect(check({ provider: 'azure', ...ids })).rejects.toThrow('"credentials.client_secret" is required');
  });

  it('is refused while the service has no public URL, unlike a connection with credentials', async () => {
    const federated = check({ provider: 'azure', ...ids, workload_identity: {} }, {}, null);
    await expect(federated).rejects.toMatchObject({ kind: 'unprocessable', code: 'issuer_unknown' });
    await expect(check({ provider: 'azure', ...ids }, { client_secret: 'kept' }, null)).resolves.toBeDefined();
  });

  it.each([
    ['a role that is no ARN', { provider: 'aws', workload_identity: { role_arn: 'deploy' } }],
    ['a provider of a pool that is none', { provider: 'google', workload_identity: { provider: `${pool}/../x` } }],
    ['an audience with spaces', { provider: 'other', workload_identity: { audience: 'a b' } }],
    ['several audiences', { provider: 'other', workload_identity: { audience: ['a', 'b'] } }],
    ['no audience where none is usual', { provider: 'other', workload_identity: {} }],
    [
      'an address with a password',
      { provider: 'vault', address: 'https://u:p@vault', workload_identity: { role: 'r', audience: 'v' } },
    ],
  ])('is refused with %s', async (_name, config) => {
    await expect(check(config)).rejects.toMatchObject({ kind: 'invalid' });
  });
});
