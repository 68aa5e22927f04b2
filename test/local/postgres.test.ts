import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { findServiceAccount } from '#local/account/account.ts';
import { type EmbeddedPostgres, startPostgres } from '#local/postgres/postgres.ts';
import { openSocketDirectory, removeSocketDirectory } from '#local/postgres/socket-directory.ts';
import { openDatabase } from '#open-database';
import { makeDirectory, makeTestDirectory } from '#test/support/directories.ts';
import { openPluginReader } from '#test/support/plugins/reader.ts';
import { listProcesses } from '#test/support/programs/start.ts';

const dataDir = makeDirectory();
const lockFile = join(dataDir, 'postgres', 'postmaster.pid');
let server: EmbeddedPostgres;

const start = async () => {
  server = await startPostgres({ dataDir, logFile: join(dataDir, 'log'), sockets: null });
};

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const readServerPid = () => Number.parseInt(readFileSync(lockFile, 'utf8'), 10);

afterAll(async () => {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('the embedded PostgreSQL', () => {
  it('has the version that the data directory records, uses UTF-8, and sorts by bytes', async () => {
    await start();
    const [row] = await query(`select current_setting('server_version_num')::int / 10000 as major,
      current_setting('server_encoding') as encoding, current_setting('data_checksums') as checksums, 'B' < 'a' as bytewise`);
    expect(row).toEqual({ major: 18, encoding: 'UTF8', checksums: 'on', bytewise: true });
    await query('create table kept (id int primary key)');
  });

  it('listens on loopback only, and rejects a wrong password', async () => {
    const [row] = await query(`select current_setting('listen_addresses') as addresses,
      current_setting('unix_socket_directories') as sockets`);
    expect(row).toEqual({ addresses: '127.0.0.1', sockets: '' });
    const url = new URL(server.url);
    url.password = 'guessed';
    await expect(new pg.Client(url.href).connect()).rejects.toThrow('password authentication failed');
    expect(listProcesses().some(({ command }) => command.includes(new URL(server.url).password))).toBe(false);
  });

  it('lets a role read the tables of plugins, and nothing else, with another password at each start', async () => {
    await query('create schema dns');
    await query('create table dns.zones (id text)');
    const readAs = async (url: string, sql: string) => {
      const client = new pg.Client(url);
      try {
        await client.connect();
        return (await client.query(sql)).rows.length;
      } catch (error) {
        return error instanceof Error ? error.message : error;
      } finally {
        await client.end();
      }
    };
    const first = await openPluginReader(server.url, ['dns', 'missing']);
    const second = await openPluginReader(server.url, ['dns']);
    expect(await readAs(first, 'select 1')).toMatch(/password authentication failed/);
    expect(await readAs(second, 'select from dns.zones')).toBe(0);
    expect(await readAs(second, 'select from kept')).toMatch(/permission denied/);
    expect(await readAs(second, 'insert into dns.zones values (1)')).toMatch(/permission denied/);
    await query('create table dns.later (id text)');
    expect(await readAs(second, 'select from dns.later')).toBe(0);
  });

  it('recovers committed rows after it was killed, even if its lock file names a living process', async () => {
    await query('insert into kept values (1)');
    process.kill(readServerPid(), 'SIGKILL');
    await server.exited;
    const lines = readFileSync(lockFile, 'utf8').split('\n');
    writeFileSync(lockFile, [process.pid, ...lines.slice(1)].join('\n'));
    await start();
    expect(await query('select id from kept')).toEqual([{ id: 1 }]);
  });

  it('stops a server that was left behind without its watchdog, and takes its place', async () => {
    await query('insert into kept values (2)');
    const left = readServerPid();
    const watchdogs = listProcesses().filter(
      ({ command }) => command.includes('watchdog INT') && command.includes(dataDir),
    );
    expect(watchdogs.length).toBeGreaterThan(0);
    for (const { pid } of watchdogs) process.kill(pid, 'SIGKILL');
    await server.exited;
    expect(listProcesses().some(({ pid }) => pid === left)).toBe(true);
    await start();
    expect(listProcesses().some(({ pid }) => pid === left)).toBe(false);
    expect(await query('select id from kept order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it.runIf(process.getuid?.() === 0)(
    'takes over a cluster that belongs to another user since an earlier start',
    async () => {
      await server.stop();
      const cluster = join(dataDir, 'postgres');
      const { uid } = statSync(cluster);
      const link = join(cluster, 'link');
      symlinkSync(join(dataDir, 'postgres-password'), link);
      execFileSync('chown', ['--recursive', '--no-dereference', '23456:23456', cluster]);
      await start();
      expect(await query('select id from kept order by id')).toEqual([{ id: 1 }, { id: 2 }]);
      for (const path of ['.', 'base', 'base/1/PG_VERSION', 'postgresql.conf']) {
        expect(statSync(join(cluster, path)).uid, path).toBe(uid);
      }
      expect(statSync(join(dataDir, 'postgres-password')).uid).toBe(0);
      expect(lstatSync(link).uid).toBe(23_456);
    },
  );
});

describe('the embedded PostgreSQL without a port', () => {
  it('listens on a socket that only its user can access, even if the path of the data directory is long', async () => {
    const long = join(makeTestDirectory(), 'x, y "'.padEnd(120, 'z'));
    mkdirSync(long, { mode: 0o711 });
    const account = findServiceAccount(long, null);
    const sockets = openSocketDirectory(long, account);
    const inLong = await startPostgres({
      dataDir: long,
      logFile: join(long, 'log'),
      sockets,
      account,
      isDurable: false,
    });
    try {
      const orm = openDatabase({ databaseUrl: inLong.url, databasePoolSize: 1 });
      const [row] = await orm.em.fork().execute(`select current_setting('listen_addresses') as addresses,
        inet_server_addr() as address`);
      await orm.close();
      expect(row).toEqual({ addresses: '', address: null });
      expect(statSync(sockets).mode & 0o077).toBe(0);
      expect(readlinkSync(join(long, 'sockets'))).toBe(sockets);
    } finally {
      await inLong.stop();
      removeSocketDirectory(long);
    }
    expect(existsSync(sockets)).toBe(false);
  });
});
