import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverToAttempt } from '#domain/connections/attempt-delivery.ts';
import { findConnection, readSeals } from '#domain/connections/store.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { type IdentityStage, openIdentityStage } from '#test/support/workload-identity/identity-stage.ts';

const issuer = 'https://coordinator.example.com';
let stage: IdentityStage;
beforeAll(async () => {
  stage = await openIdentityStage(issuer);
});
afterAll(() => stage?.api.close());

let made = 0;
const add = async (kind: string, config: object, credentials: object = {}) => {
  const body = { name: `Connection ${++made}`, kind, config, credentials, team_id: stage.tenant.team };
  return (await stage.tenant.owner.make('/admin/connections', body)).id;
};

async function deliver(
  id: string,
  attempt: { runId: string; attemptId: string },
  keyRing = stage.api.services.keyRing,
) {
  const em = stage.api.services.orm.em.fork();
  const [target, seals] = [await findConnection(em, id), await readSeals(em, id)];
  const connection = { ...target!.connection, ...seals! };
  return em.transactional((tx) =>
    deliverToAttempt(tx, keyRing, connection, { ...attempt, workerId: stage.worker, issuer }),
  );
}

describe('a connection with workload identity', () => {
  const vault = { role: 'deploy', audience: 'vault' };
  const config = { provider: 'vault', address: 'https://vault.example.com', workload_identity: vault };

  it('gives each attempt its own token, for the audience that the connection names', async () => {
    const attempt = await stage.planning();
    const { variables, files } = await deliver(await add('cloud', config), attempt);
    const token = variables.find(({ name }) => name === 'TERRAFORM_VAULT_AUTH_JWT')?.value ?? '';
    expect(decodeJwt(token)).toMatchObject({ aud: 'vault', attempt_id: attempt.attemptId, phase: 'plan' });
    expect(files).toMatchObject([{ name: 'WORKLOAD_IDENTITY_TOKEN_FILE', text: token }]);
    const open = variables.filter(({ sensitive }) => !sensitive).map(({ name }) => name);
    expect(open).toEqual(['VAULT_ADDR', 'BAO_ADDR', 'VAULT_JWT_ROLE', 'VAULT_JWT_MOUNT']);
  });

  it('has the same cache identity in every attempt until somebody changes the connection', async () => {
    const role = { role_arn: 'arn:aws:iam::123456789012:role/deploy' };
    const id = await add('cloud', { provider: 'aws', workload_identity: role });
    const [one, other] = [await deliver(id, await stage.planning()), await deliver(id, await stage.planning())];
    const identities = ({ variables, files }: typeof one) => [...variables, ...files].map(({ identity }) => identity);
    expect(one.variables).not.toEqual(other.variables);
    expect(identities(one)).toEqual(identities(other));
    expect(new Set(identities(one)).size).toBe(4);
    await stage.tenant.owner.post(`/admin/connections/${id}/rotate`, { credentials: {} });
    expect(identities(await deliver(id, await stage.planning()))).not.toEqual(identities(one));
  });

  it('gives no token to an attempt that has ended', async () => {
    const id = await add('cloud', config);
    const attempt = await stage.planning();
    await stage.steps.complete(attempt.attemptId, { outcome: 'failed' });
    await expect(deliver(id, attempt)).rejects.toMatchObject({ name: 'AttemptSuperseded' });
  });
});

describe('a connection with credentials', () => {
  it('gives each attempt the same variables, and marks the secret ones as sensitive', async () => {
    const keys = { access_key_id: 'AKIA', secret_access_key: 'kept-secret' };
    const id = await add('cloud', { provider: 'aws', region: 'eu-central-1' }, keys);
    expect(await deliver(id, await stage.planning())).toEqual({
      variables: [
        { name: 'AWS_REGION', value: 'eu-central-1', sensitive: false },
        { name: 'AWS_DEFAULT_REGION', value: 'eu-central-1', sensitive: false },
        { name: 'AWS_ACCESS_KEY_ID', value: 'AKIA', sensitive: true },
        { name: 'AWS_SECRET_ACCESS_KEY', value: 'kept-secret', sensitive: true },
      ],
      files: [],
    });
  });

  it('fails with credentials_unavailable if the key ring cannot decrypt them', async () => {
    const id = await add('generic', {}, { variables: { TOKEN: 'kept-secret' } });
    const other = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 9) }]);
    const delivered = deliver(id, await stage.planning(), other);
    await expect(delivered).rejects.toMatchObject({ code: 'credentials_unavailable' });
  });
});
