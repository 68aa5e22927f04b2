import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findServiceAccount } from '#local/account/account.ts';
import { type EmbeddedPostgres, startPostgres } from '#local/postgres/postgres.ts';
import { openSocketDirectory, removeSocketDirectory } from '#local/postgres/socket-directory.ts';
import { migrate } from '#migrate';
import { makeDirectory, makeTestDirectory } from '#test/support/directories.ts';
import { programEnvironment } from '#test/support/programs/start.ts';

const dataDir = makeDirectory();
let server: EmbeddedPostgres;
beforeAll(async () => {
  const sockets = openSocketDirectory(dataDir, findServiceAccount(dataDir, null));
  server = await startPostgres({ dataDir, logFile: join(dataDir, 'log'), sockets, isDurable: false });
  writeFileSync(join(dataDir, 'secret-keys'), `k1:${Buffer.alloc(32).toString('base64')}\n`, { mode: 0o600 });
  await migrate({ databaseUrl: server.url });
});
afterAll(async () => {
  await server?.stop();
  removeSocketDirectory(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
});

async function query(sql: string): Promise<unknown[]> {
  const database = new pg.Client({ connectionString: server.url });
  await database.connect();
  const { rows } = await database.query(sql);
  await database.end();
  return rows;
}

/** Runs a command of administrators with only the data directory set. @returns its exit code and all that it prints */
async function admin(given: string[], directory = dataDir) {
  const environment = programEnvironment({ COORDINATOR_DATA_DIR: directory });
  const child = spawn(process.execPath, ['src/main.ts', 'admin', ...given], { env: environment });
  child.stdin.end('a long new password\n');
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, printed: `${output}${errors}`.trim() };
}

describe('admin beside a running `start`', () => {
  it('creates and recovers an administrator in the database of `start`, and prints that', async () => {
    expect(await admin(['create', '--email', 'first@example.com'])).toEqual({
      code: 0,
      printed: 'Created the administrator first@example.com.',
    });
    expect(await admin(['recover', '--email', 'first@example.com'])).toEqual({
      code: 0,
      printed: 'Set the new password of first@example.com and ended all sessions of this user.',
    });
  });

  it('encrypts everything anew with the first key, and says when no old key is needed', async () => {
    const rotated = await admin(['rotate-keys']);
    expect(rotated).toMatchObject({
      code: 0,
      printed: expect.stringContaining('installation.sealed_keys: 0 encrypted anew'),
    });
    expect(rotated.printed).toMatch(/\nNothing in the database needs an old key\.$/);
    expect(await admin(['rotate-keys', '--check'])).toMatchObject({ code: 0 });
    expect(await admin(['rotate-keys', '--all'])).toMatchObject({ code: 2 });
    const keys = readFileSync(join(dataDir, 'secret-keys'), 'utf8').trim();
    writeFileSync(join(dataDir, 'secret-keys'), `k2:${Buffer.alloc(32, 2).toString('base64')},${keys}\n`);
    const again = await admin(['rotate-keys']);
    expect(again.printed).toContain('installation.sealed_keys: 1 encrypted anew');
    const records = await query(`select actor_name, after from audit_records where action = 'secrets.resealed'`);
    expect(records).toEqual([{ actor_name: 'command line', after: { sealed: expect.any(Number), left: 0 } }]);
  });

  it('admin without a running `start` says to start it, and not to set up a Temporal server', async () => {
    const { code, printed } = await admin(['recover', '--email', 'first@example.com'], makeTestDirectory());
    expect(code).toBe(1);
    expect(printed).toMatch(
      /^DATABASE_URL is missing, and `start` is not running with the data directory \S+: start it/m,
    );
    expect(printed).not.toContain('TEMPORAL_ADDRESS');
  });

  it('admin without a subcommand names all subcommands', async () => {
    expect(await admin([])).toEqual({
      code: 2,
      printed: 'admin needs an argument: create, recover, rotate-keys or plugin-reader (--help lists the commands).',
    });
  });
});
