import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findServiceAccount } from '#local/account/account.ts';
import { type EmbeddedPostgres, startPostgres } from '#local/postgres/postgres.ts';
import { openSocketDirectory, removeSocketDirectory } from '#local/postgres/socket-directory.ts';
import { migrate } from '#open-database';
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

/** Runs a command of administrators with only the data directory set, and answers its exit code and all that it prints. */
async function admin(given: string[], directory = dataDir) {
  const environment = programEnvironment({ COORDINATOR_DATA_DIR: directory });
  const child = spawn(process.execPath, ['src/main.ts', 'admin', ...given], { env: environment });
  child.stdin.end('a long new password\n');
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, printed: `${output}${errors}`.trim() };
}

describe('admin beside a running `start`', () => {
  it('creates and recovers an administrator in the database of `start`, and says so', async () => {
    expect(await admin(['create', '--email', 'first@example.com'])).toEqual({
      code: 0,
      printed: 'Created the administrator first@example.com.',
    });
    expect(await admin(['recover', '--email', 'first@example.com'])).toEqual({
      code: 0,
      printed: 'Set the new password of first@example.com and ended all sessions of this user.',
    });
  });

  it('encrypts everything anew by the first key, and says when nothing needs an old key', async () => {
    const rotated = await admin(['rotate-keys']);
    expect(rotated).toMatchObject({
      code: 0,
      printed: expect.stringContaining('installation.sealed_keys: 0 encrypted anew'),
    });
    expect(rotated.printed).toMatch(/\nNothing in the database needs an old key\.$/);
    expect(await admin(['rotate-keys', '--check'])).toMatchObject({ code: 0 });
    expect(await admin(['rotate-keys', '--all'])).toMatchObject({ code: 2 });
  });

  it('without a running `start` says to start it, and asks for no Temporal server', async () => {
    const { code, printed } = await admin(['recover', '--email', 'first@example.com'], makeTestDirectory());
    expect(code).toBe(1);
    expect(printed).toMatch(
      /^DATABASE_URL is missing, and `start` is not running with the data directory \S+: start it/m,
    );
    expect(printed).not.toContain('TEMPORAL_ADDRESS');
  });

  it('without a subcommand names all', async () => {
    expect(await admin([])).toEqual({
      code: 2,
      printed: 'admin needs an argument: create, recover or rotate-keys (--help lists the commands).',
    });
  });
});
