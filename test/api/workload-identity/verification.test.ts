import { createHmac, createPublicKey } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audience, type IdentityStage, openIdentityStage } from '#test/support/workload-identity/identity-stage.ts';
import { findFreePort, startVerifier, type Verifier } from '#test/support/workload-identity/verifier.ts';

let stage: IdentityStage;
let verifier: Verifier;
let root: Awaited<ReturnType<IdentityStage['api']['addUser']>>;
beforeAll(async () => {
  const port = await findFreePort();
  const issuer = `http://127.0.0.1:${port}`;
  stage = await openIdentityStage(issuer);
  await stage.api.app.listen({ host: '127.0.0.1', port });
  root = await stage.api.addUser('admin');
  verifier = startVerifier(issuer);
});
afterAll(async () => {
  await verifier?.stop();
  await stage?.api.close();
});

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const parts = (token: string) => token.split('.') as [string, string, string];
const verify = (token: string) => verifier.verify(token, { audience });
const kidOf = (token: string) => decodeProtectedHeader(token).kid;

/** The published keys, read without a credential. */
async function readKeys(): Promise<{ kid: string }[]> {
  const answer = await fetch(`${stage.issuer}/.well-known/jwks.json`);
  return ((await answer.json()) as { keys: { kid: string }[] }).keys;
}

describe('a verifier in another process, which knows only the issuer', () => {
  it('accepts the token of an attempt', async () => {
    const attempt = await stage.planning();
    const verdict = await verify(await stage.mint(attempt));
    expect(verdict).toMatchObject({ accepted: true, claims: { run_id: attempt.runId, phase: 'plan' } });
  });

  it('accepts tokens of the old and of the new key during a rotation, and finds every key', async () => {
    const before = await stage.mint(await stage.planning());
    const { body: next } = await root.post('/admin/signing-keys/rotate', {});
    expect(next).toMatchObject({ status: 'upcoming', published_until: null });
    const meanwhile = await stage.mint(await stage.planning());
    expect(kidOf(meanwhile), 'the new key is published before it signs').toBe(kidOf(before));
    expect((await readKeys()).map(({ kid }) => kid)).toEqual([next.key_id, kidOf(before)]);

    await stage.passHours(1);
    const after = await stage.mint(await stage.planning());
    expect(kidOf(after)).toBe(next.key_id);
    for (const token of [before, meanwhile, after]) expect(await verify(token)).toMatchObject({ accepted: true });
    const { body } = await root.get('/admin/signing-keys');
    expect(body.signing_keys.map(({ status }: { status: string }) => status)).toEqual(['signing', 'retired']);
  });

  it('refuses all earlier tokens once an administrator has withdrawn the other keys', async () => {
    const before = await stage.mint(await stage.planning());
    const { status, body } = await root.post('/admin/signing-keys/rotate', { withdraw_others: true });
    expect([status, body.status]).toEqual([200, 'signing']);
    expect(await readKeys()).toMatchObject([{ kid: body.key_id }]);
    expect(await verify(await stage.mint(await stage.planning()))).toMatchObject({ accepted: true });
    expect(await verify(before)).toMatchObject({ accepted: false, code: 'ERR_JWKS_NO_MATCHING_KEY' });
    const records = await stage.api.rows(
      `select after from audit_records where action = 'signing_key.rotated' and resource_id = ?`,
      [body.id],
    );
    expect(records).toMatchObject([{ after: { key_id: body.key_id, withdraw_others: true } }]);
  });
});

describe('the verification of a token', () => {
  let token: string;
  beforeAll(async () => {
    token = await stage.mint(await stage.planning());
  });

  it('a token is refused by a verifier with another audience', async () => {
    const elsewhere = await verifier.verify(token, { audience: 'sts.amazonaws.com' });
    expect(elsewhere).toEqual({ accepted: false, code: 'ERR_JWT_CLAIM_VALIDATION_FAILED' });
  });

  it('a token for a plan is refused by a verifier that accepts only tokens for applies', async () => {
    const applies = String(decodeJwt(token).sub).replace(/:phase:plan$/, ':phase:apply');
    const applying = await stage.mint(await stage.applying());
    const ofApply = await verifier.verify(applying, { audience, subject: String(decodeJwt(applying).sub) });
    expect(ofApply).toMatchObject({ accepted: true });
    expect(await verifier.verify(token, { audience, subject: applies })).toMatchObject({ accepted: false });
  });

  it('a token is refused if somebody changed its phase', async () => {
    const [header, payload, signature] = parts(token);
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const changed = `${header}.${encode({ ...claims, phase: 'apply' })}.${signature}`;
    expect(await verify(changed)).toEqual({ accepted: false, code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' });
  });

  it('a token is refused if it says that it is not signed', async () => {
    const [, payload] = parts(token);
    expect(await verify(`${encode({ alg: 'none', kid: kidOf(token) })}.${payload}.`)).toMatchObject({
      accepted: false,
    });
  });

  it('a token is refused if the public key has signed it as a shared secret', async () => {
    const [, payload] = parts(token);
    const [key] = await readKeys();
    const pem = createPublicKey({ key: key as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const text = `${encode({ alg: 'HS256', typ: 'JWT', kid: kidOf(token) })}.${payload}`;
    const forged = `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
    expect(await verify(forged)).toMatchObject({ accepted: false });
  });

  it.each(['a key that nobody published', '../../etc/passwd', 'the key id of the service'])(
    'a token is refused if a stranger has signed it and names %s',
    async (named) => {
      const { privateKey } = await generateKeyPair('RS256');
      const kid = named.startsWith('the') ? String(kidOf(token)) : named;
      const forged = await new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
      expect(await verify(forged)).toMatchObject({ accepted: false });
    },
  );

  it('a token is refused if it brings its own key', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const header = { alg: 'RS256', kid: String(kidOf(token)), jwk, jku: 'http://127.0.0.1:9/keys' };
    const forged = await new SignJWT(decodeJwt(token)).setProtectedHeader(header).sign(privateKey);
    expect(await verify(forged)).toMatchObject({ accepted: false });
  });

  it('a token is refused by the service itself as a credential', async () => {
    const answer = await stage.api.nobody.get('/runs', { authorization: `Bearer ${token}` });
    expect(answer.status).toBe(401);
  });
});
