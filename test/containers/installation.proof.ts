import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertPortFree } from '#local/ports.ts';
import { type EmbeddedPostgres, startPostgres } from '#local/postgres/postgres.ts';
import { codeBlocks } from '#test/docs/markdown.ts';
import { makeDirectory } from '#test/support/directories.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { readText, root } from './compose.ts';
import { buildTree, collectPrograms } from './image-tree.ts';
import { PlainInstallation } from './plain-installation.ts';

const administrator = { email: 'admin@example.com', password: 'correct horse battery' };

/** Runs processes as the users of the containers, so it needs root. It also needs psql, which the PostgreSQL image has. */
describe('the services of docker-compose.yml, run as plain processes', () => {
  const directory = makeDirectory();
  let postgres: EmbeddedPostgres;
  let installation: PlainInstallation;

  beforeAll(async () => {
    const [secrets = ''] = codeBlocks('docs/operating.md')
      .filter(({ info }) => info === 'sh containers')
      .map(({ text }) => text);
    const { code, errors } = await runShell(['-euc', `cd ${directory}\n${secrets}`], {});
    expect([code, errors]).toEqual([0, '']);
    buildTree(join(directory, 'app'));
    collectPrograms(join(directory, 'bin'));
    postgres = await startPostgres({
      dataDir: directory,
      logFile: join(directory, 'postgres.log'),
      isDurable: false,
      sockets: null,
    });
    const databasePort = Number(new URL(postgres.url).port);
    await makeRoles(postgres.url, directory);
    writeDatabaseUrl(directory, databasePort);
    installation = new PlainInstallation({ directory, databasePort, ports: await choosePorts() });
  });

  afterAll(async () => {
    await installation?.down();
    await postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('start in the declared order, and become healthy', async () => {
    await Promise.all(['api-1', 'api-2', 'worker-1', 'worker-2'].map((name) => installation.up(name)));
  });

  it('can run their jobs again at the next start', () => {
    for (const name of ['temporal-schema', 'temporal-namespace', 'migrate']) {
      const { status, output } = installation.run(name, installation.commandOf(name));
      expect([name, status], output).toEqual([name, 0]);
    }
  });

  it('create the first administrator by the documented command, and execute runs', async () => {
    const [program = []] = [installation.commandOf('api-1').slice(0, -1)];
    const create = [...program, 'admin', 'create', '--email', administrator.email];
    expect(installation.run('api-1', create, administrator.password)).toMatchObject({ status: 0 });
    const environment = { URL: `http://127.0.0.1:${ports['api-1']?.['COORDINATOR_PORT']}`, EMAIL: administrator.email };
    const result = await runShell(
      [join(root, 'test/curl/main-job.sh')],
      {
        ...environment,
        PASSWORD: administrator.password,
      },
      { withinMs: 300_000 },
    );
    expect(result.code, result.output + result.errors).toBe(0);
  });

  it('show the same runs at the other API, and both workers', async () => {
    const url = `http://127.0.0.1:${ports['api-2']?.['COORDINATOR_PORT']}/api/v1`;
    const post = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(administrator),
    };
    const { token } = (await (await fetch(`${url}/auth/sessions`, post)).json()) as { token: string };
    const headers = { authorization: `Bearer ${token}` };
    // Without a team, the list contains only the caller's own runs.
    const read = async (path: string) => (await fetch(`${url}${path}`, { headers })).json();
    const { organizations } = (await read('/organizations')) as { organizations: { id: string }[] };
    const { teams } = (await read(`/organizations/${organizations[0]?.id}/teams`)) as { teams: { id: string }[] };
    const runs = (await read(`/runs?status=succeeded&team_id=${teams[0]?.id}`)) as { runs: unknown[] };
    const workers = (await (await fetch(`${url}/workers`, { headers })).json()) as { workers: { status: string }[] };
    expect(runs.runs.length).toBeGreaterThan(0);
    expect(workers.workers.map(({ status }) => status)).toEqual(['active', 'active']);
  });

  it('stop at SIGTERM, and are unhealthy afterwards', async () => {
    const ends = await installation.down();
    expect(ends).toMatchObject({ 'api-1': 0, 'api-2': 0, 'worker-1': 0, 'worker-2': 0 });
    const check = installation.composition.services['api-1']?.healthcheck?.test.slice(1) ?? [];
    const { status, output } = installation.run('api-1', check);
    expect([status, output]).toEqual([1, expect.stringContaining('The API does not answer')]);
  });
});

let ports: Record<string, Record<string, number>> = {};

/** Containers can all use the usual ports. Plain processes need different ones. */
async function choosePorts(): Promise<Record<string, Record<string, number>>> {
  const temporal = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'].flatMap((part) => [
    `${part}_PORT`,
    `${part}_MEMBERSHIP_PORT`,
  ]);
  const api = ['COORDINATOR_PORT', 'COORDINATOR_ADMIN_PORT'];
  const choose = async (names: string[]) =>
    Object.fromEntries(await Promise.all(names.map(async (name) => [name, await findLowPort()])));
  ports = { temporal: await choose(temporal), 'api-1': await choose(api), 'api-2': await choose(api) };
  return ports;
}

/** Temporal stores its members' ports in a `smallint`, which is too small for the ephemeral ports of the system. */
async function findLowPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const isFree = await assertPortFree('127.0.0.1', port, 'port').then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
}

/** Gives the cluster the superuser of the PostgreSQL image, and runs the script that the image runs at its first start. */
async function makeRoles(adminUrl: string, directory: string): Promise<void> {
  const password = readFileSync(join(directory, 'secrets/postgres_password'), 'utf8').trim();
  await query(adminUrl, `CREATE ROLE postgres SUPERUSER LOGIN PASSWORD '${password}'`);
  const url = new URL(adminUrl);
  Object.assign(url, { username: 'postgres', password, pathname: '/postgres' });
  await query(url.href, 'DROP DATABASE coordinator WITH (FORCE)');
  await query(url.href, 'ALTER ROLE coordinator RENAME TO embedded');
  mkdirSync(join(directory, 'init'));
  const script = join(directory, 'init/roles.sql');
  writeFileSync(script, readText('deploy/postgres-roles.sql').replaceAll('/run/secrets/', `${directory}/secrets/`));
  const { status, stderr } = spawnSync('psql', ['-v', 'ON_ERROR_STOP=1', '--no-psqlrc', '-f', script, url.href], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`deploy/postgres-roles.sql failed: ${stderr}`);
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

function writeDatabaseUrl(directory: string, port: number): void {
  const path = join(directory, 'secrets/database_url');
  const url = readFileSync(path, 'utf8');
  expect(url).toMatch(/^postgres:\/\/coordinator:[0-9a-f]{48}@postgres:5432\/coordinator\n$/);
  rmSync(path);
  writeFileSync(path, url.replace('postgres:5432', `127.0.0.1:${port}`));
}
