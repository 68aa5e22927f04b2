import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverToAttempt } from '#domain/connections/attempt-delivery.ts';
import { findConnection, readSeals } from '#domain/connections/store.ts';
import { codeBlocks } from '#test/docs/markdown.ts';
import { makeWorkRoot, runScript } from '#test/executors/support.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { type IdentityStage, openIdentityStage } from '#test/support/workload-identity/identity-stage.ts';
import { findFreePort } from '#test/support/workload-identity/verifier.ts';
import { type OpenBao, startOpenBao } from './server.ts';

const audience = 'vault';
let stage: IdentityStage;
let server: OpenBao;
let directory: string;
const work = makeWorkRoot();
beforeAll(async () => {
  const port = await findFreePort();
  stage = await openIdentityStage(`http://127.0.0.1:${port}`);
  await stage.api.app.listen({ host: '127.0.0.1', port });
  server = await startOpenBao();
  directory = mkdtempSync(join(tmpdir(), 'identity-'));
});
afterAll(async () => {
  await server?.stop();
  await stage?.api.close();
  await work.remove();
  if (directory) rmSync(directory, { recursive: true });
});

/** The commands of the documentation: how an administrator trusts the service, and how a script logs in. */
const [trust = '', login = ''] = codeBlocks('docs/workload-identity.md')
  .filter(({ info }) => info === 'sh openbao')
  .map(({ text }) => text);

/** Logs in as the documentation says, with the token in a file. */
async function logIn(token: string) {
  const file = join(directory, 'token');
  writeFileSync(file, token, { mode: 0o600 });
  const variables = {
    ...server.environment,
    BAO_TOKEN: '',
    WORKLOAD_IDENTITY_TOKEN_FILE: file,
    VAULT_JWT_ROLE: 'deploy',
  };
  const { code, output, errors } = await runShell(['-eu'], { ...variables, VAULT_JWT_MOUNT: 'jwt' }, { input: login });
  return { code, said: output + errors };
}

const template = (token: string) => decodeJwt(token)['template_id'];

describe('an OpenBao that trusts applies of one template in one environment', () => {
  let attempt: { runId: string; attemptId: string };
  let applying: string;
  beforeAll(async () => {
    attempt = await stage.applying();
    applying = await stage.mint(attempt, { audience });
    const variables = { ISSUER: String(stage.issuer), SUBJECT: String(decodeJwt(applying).sub) };
    const { code, errors } = await runShell(['-eu'], { ...server.environment, ...variables }, { input: trust });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
  });

  it('lets such an apply in, with the policy of the role', async () => {
    const { code, said } = await logIn(applying);
    expect(code, said).toBe(0);
    expect(said).toMatch(/token_policies\s+\["default" "deploy"\]/);
  });

  it('lets the script of a template in by what a connection gives the attempt, and the log does not have the token', async () => {
    const { orm, keyRing } = stage.api.services;
    const identity = { role: 'deploy', audience };
    const config = { provider: 'vault', address: server.environment.BAO_ADDR, workload_identity: identity };
    const { id } = await stage.tenant.owner.make('/admin/connections', {
      name: 'bao',
      kind: 'cloud',
      config,
      team_id: stage.tenant.team,
    });
    const em = orm.em.fork();
    const [target, seals] = [await findConnection(em, id), await readSeals(em, id)];
    const receiving = { ...attempt, workerId: stage.worker, issuer: stage.issuer };
    const given = await em.transactional((tx) =>
      deliverToAttempt(tx, keyRing, { ...target!.connection, ...seals! }, receiving),
    );
    const { result, sink } = await runScript(work.path, `${login}cat "$WORKLOAD_IDENTITY_TOKEN_FILE"`, {
      environment: given.variables,
      environmentFiles: given.files,
      choice: { isolation: 'none' },
    });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    expect(sink.text('stdout')).toMatch(/token_policies\s+\["default" "deploy"\].*\[redacted\]/s);
    expect(sink.text()).not.toContain(given.files[0]?.text);
  });

  it('refuses a plan, another template, and a token for somebody else', async () => {
    const plan = await stage.mint(await stage.planning(), { audience });
    const other = await stage.mint(await stage.applying(), { audience });
    expect(template(other)).not.toBe(template(applying));
    const elsewhere = await stage.mint(attempt, { audience: 'sts.amazonaws.com' });
    for (const [token, reason] of [
      [plan, 'subject (sub)'],
      [other, 'subject (sub)'],
      [elsewhere, 'audience'],
    ] as const) {
      const { code, said } = await logIn(token);
      expect(code).not.toBe(0);
      expect(said).toContain(reason);
    }
  });

  it('refuses a token whose signature is another', async () => {
    const { code, said } = await logIn(`${applying.slice(0, -8)}AAAAAAAA`);
    expect([code, said]).toEqual([2, expect.stringContaining('verif')]);
  });

  it('follows a rotation of the keys, and a withdrawal', async () => {
    const root = await stage.api.addUser('admin');
    await root.post('/admin/signing-keys/rotate', {});
    await stage.passHours(1);
    const rotated = await stage.mint(attempt, { audience });
    for (const token of [rotated, applying]) expect(await logIn(token)).toMatchObject({ code: 0 });
    await root.post('/admin/signing-keys/rotate', { withdraw_others: true });
    expect(await logIn(await stage.mint(attempt, { audience }))).toMatchObject({ code: 0 });
    for (const token of [rotated, applying]) {
      const { code, said } = await logIn(token);
      expect([code, said]).toEqual([2, expect.stringContaining('verif')]);
    }
  });
});
