import { rmSync } from 'node:fs';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { createEmptyDatabase } from '#test/support/database/database.ts';
import { makeDataDirectory } from '#test/support/directories.ts';
import { Program, processTree } from '#test/support/programs/start.ts';

const directories: string[] = [];
const databases: { drop: () => Promise<void> }[] = [];
const started: Program[] = [];

async function start(settings: Record<string, string>): Promise<Program> {
  const database = await createEmptyDatabase();
  databases.push(database);
  const dataDir = makeDataDirectory();
  directories.push(dataDir);
  const services = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: inject('temporalAddress') };
  const program = Program.coordinator(['start'], {
    COORDINATOR_DATA_DIR: dataDir,
    ...services,
    ...settings,
  });
  started.push(program);
  return program;
}

afterAll(async () => {
  for (const program of started) if (!program.hasEnded) await program.stop();
  for (const database of databases) await database.drop();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

describe('start with external PostgreSQL and Temporal', () => {
  it('embeds no server, migrates the database, and leaves the first user to bootstrap', async () => {
    const program = await start({
      COORDINATOR_PORT: '0',
      ENABLE_ADMIN_BOOTSTRAP: 'true',
      ADMIN_BOOTSTRAP_TOKEN: 'the token',
    });
    const [, url = ''] = await program.says(/Ready {2}(\S+)/);
    expect(program.output).not.toMatch(/Administrator {2}|Greeting/);
    expect(processTree(program.pid).filter(({ command }) => /postgres -D|start-dev/.test(command))).toEqual([]);
    const response = await fetch(`${url}/bootstrap/admin`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-bootstrap-token': 'the token' },
      body: JSON.stringify({ email: 'first@example.com', name: 'First', password: 'a strong pass 1' }),
    });
    expect(response.status).toBe(201);
  });

  it('issues tokens with its loopback address as issuer, and publishes the first key', async () => {
    const [, issuer = ''] = (await started[0]?.says(/Ready {2}(http:\/\/127\.0\.0\.1:\d+)/)) ?? [];
    const read = async (path: string) => (await fetch(`${issuer}/.well-known/${path}`)).json();
    expect(await read('openid-configuration')).toMatchObject({ issuer, jwks_uri: `${issuer}/.well-known/jwks.json` });
    await expect.poll(() => read('jwks.json')).toMatchObject({ keys: [{ kty: 'RSA' }] });
    await started[0]?.stop();
  });

  it('creates the configured administrator without printing the configured password', async () => {
    const given = { COORDINATOR_ADMIN_EMAIL: 'ops@example.com', COORDINATOR_ADMIN_PASSWORD: 'given by automation' };
    const program = await start({
      ...given,
      COORDINATOR_SAMPLE: 'false',
      COORDINATOR_BASE_URL: 'https://coordinator.example.com',
    });
    await program.says(/Stop {3}Ctrl-C/);
    expect(program.output).toContain('Administrator  ops@example.com');
    expect(program.output).not.toMatch(/given by automation|Greeting/);
    expect(program.output).toContain('Ready  https://coordinator.example.com ');
    const [, url] = await program.says(/(http:\/\/127\.0\.0\.1:\d+)\/api\/v1\/auth\/whoami/);
    const body = JSON.stringify({ email: 'ops@example.com', password: 'given by automation' });
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${url}/api/v1/auth/sessions`, { method: 'POST', headers, body })).status).toBe(201);
  });
});
