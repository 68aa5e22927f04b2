import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '#config';
import { makeTestDirectory } from '#test/support/directories.ts';
import { Program } from '#test/support/programs/start.ts';
import { openExecutor } from '#worker/executor.ts';

async function takePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return String(typeof address === 'object' && address?.port);
}

/** Runs `start`, which must fail. @returns the only line that it prints */
async function refusalOf(settings: Record<string, string>): Promise<string> {
  const program = Program.coordinator(['start'], { COORDINATOR_DATA_DIR: makeTestDirectory(), ...settings });
  expect(await program.ends()).toBe(1);
  expect(program.output.trim().split('\n')).toHaveLength(1);
  return program.output.trim();
}

/** The error of a worker's executor, which needs neither the database nor Temporal to reject a setting. */
async function refusalOfWorker(settings: Record<string, string>): Promise<string> {
  const servers = { DATABASE_URL: 'postgres://127.0.0.1/none', TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const key = { COORDINATOR_SECRET_KEYS: `k:${Buffer.alloc(32).toString('base64')}` };
  const config = loadConfig({ COORDINATOR_DATA_DIR: makeTestDirectory(), ...servers, ...key, ...settings });
  return openExecutor(config).then(
    async (executor) => executor.close().then(() => 'it started'),
    (error: Error) => error.message,
  );
}

function directoryWith(files: Record<string, string>): { COORDINATOR_DATA_DIR: string } {
  const COORDINATOR_DATA_DIR = makeTestDirectory();
  mkdirSync(join(COORDINATOR_DATA_DIR, 'postgres'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(COORDINATOR_DATA_DIR, name), content);
  return { COORDINATOR_DATA_DIR };
}

describe('the refusals of start', () => {
  it('start says in one sentence what to do about a port that is in use', async () => {
    const port = await takePort();
    expect(await refusalOf({ COORDINATOR_PORT: port })).toMatch(
      new RegExp(`^Port ${port} on 127.0.0.1 is in use: .+ COORDINATOR_PORT \\(0: the system chooses one\\)\\.$`),
    );
    expect(await refusalOf({ COORDINATOR_ADMIN_PORT: port })).toMatch(/is in use: .+ COORDINATOR_ADMIN_PORT /);
  });

  it('start says in one sentence what to do about an address that is not of this machine', async () => {
    expect(await refusalOf({ COORDINATOR_HOST: '192.0.2.1' })).toMatch(
      /not an address of this machine: set COORDINATOR_HOST to one that is\.$/,
    );
  });

  it('start says in one sentence what to do about a data directory that another version of PostgreSQL or another release wrote', async () => {
    expect(await refusalOf(directoryWith({ 'postgres/PG_VERSION': '16\n' }))).toMatch(
      /holds data of PostgreSQL 16, and this release embeds PostgreSQL 18: start the release that wrote it, or choose another/,
    );
    const later = directoryWith({ 'version.json': '{"layout": 2, "postgres": 18}' });
    expect(await refusalOf(later)).toMatch(/has layout 2, and this release reads layout 1: .+ COORDINATOR_DATA_DIR\.$/);
    expect(readdirSync(join(later.COORDINATOR_DATA_DIR, 'postgres'))).toEqual([]);
    expect(await refusalOf(directoryWith({ 'version.json': 'damaged' }))).toContain('does not say which version');
  });

  it('start says in one sentence what to do about a data directory that is a file', async () => {
    const file = join(makeTestDirectory(), 'file');
    writeFileSync(file, '');
    expect(await refusalOf({ COORDINATOR_DATA_DIR: file })).toBe(
      `${file} is not a directory: choose another one with COORDINATOR_DATA_DIR.`,
    );
  });

  it('start says in one sentence what to do about a provider mirror that does not exist', async () => {
    expect(await refusalOfWorker({ COORDINATOR_PROVIDER_MIRROR: '/no/such/mirror' })).toMatch(
      /^The executor host did not start: COORDINATOR_PROVIDER_MIRROR names \/no\/such\/mirror, which does not exist\.$/,
    );
  });

  it('start says in one sentence what to do about a directory that sandboxes cannot see', async () => {
    expect(await refusalOfWorker({ COORDINATOR_EXECUTOR_PATHS: '/no/such,/tmp' })).toBe(
      'COORDINATOR_EXECUTOR_PATHS names /no/such, which is not a directory.\n' +
        'COORDINATOR_EXECUTOR_PATHS names /tmp, but sandboxes have a /tmp of their own: choose a directory elsewhere, such as /opt.',
    );
  });

  it('start says in one sentence what to do about a setting that is invalid', async () => {
    expect(await refusalOf({ LOG_LEVEL: 'loud' })).toMatch(/^LOG_LEVEL must be one of/);
  });
});

describe('the command line', () => {
  it('lists its commands for --help', async () => {
    const program = Program.coordinator(['--help'], {});
    expect(await program.ends()).toBe(0);
    for (const command of ['start', 'api', 'worker', 'migrate', 'admin create', 'admin recover'])
      expect(program.output).toContain(command);
  });

  it.each([[['serve']], [['start', 'now']], [['admin']], [['admin', 'create', '--mail', 'x']], [['admin', 'recover']]])(
    'rejects %j in one line, with exit code 2',
    async (given) => {
      const program = Program.coordinator(given, {});
      expect(await program.ends()).toBe(2);
      expect(program.output.trim().split('\n')).toHaveLength(1);
    },
  );

  it('names every setting that api, worker and migrate lack', async () => {
    for (const [command, lines] of [
      ['api', 3],
      ['worker', 3],
      ['migrate', 1],
    ] as const) {
      const program = Program.coordinator([command], { COORDINATOR_DATA_DIR: makeTestDirectory() });
      expect(await program.ends()).toBe(1);
      expect(program.output.trim().split('\n')).toHaveLength(lines);
      expect(program.output).toMatch(/DATABASE_URL is missing/);
    }
  });
});
