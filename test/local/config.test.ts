import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, loadConfig, loadDatabaseConfig, loadStartConfig, readToolsDirectory } from '#config';
import { makeTestDirectory } from '#test/support/directories.ts';
import { secretSettings } from '../../src/config/secret-files.ts';

const key = Buffer.alloc(32, 1).toString('base64');
const otherKey = Buffer.alloc(32, 2).toString('base64');
const required = {
  DATABASE_URL: 'postgres://user:hidden@db:5432/coordinator',
  TEMPORAL_ADDRESS: 'temporal:7233',
  COORDINATOR_SECRET_KEYS: `k1:${key}`,
};

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig({ ...required, ...environment });
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('settings', () => {
  it('are safe by default: loopback only, no bootstrap, no trusted proxy', () => {
    const config = loadConfig(required);
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8080, adminHost: '127.0.0.1', adminPort: 9090 });
    expect(config).toMatchObject({ bootstrap: { enabled: false, token: null }, trustedProxies: [], baseUrl: null });
    expect(config.admin).toBeNull();
  });

  it('are all reported at once when they are invalid, each in one sentence that says what is accepted', () => {
    const problems = problemsOf({
      COORDINATOR_PORT: '80800',
      COORDINATOR_BASE_URL: 'coordinator.example.com',
      LOG_LEVEL: 'verbose',
      COORDINATOR_SAMPLE: 'perhaps',
      COORDINATOR_TRUSTED_PROXIES: '10.0.0.0/8, proxy',
    });
    expect(problems).toHaveLength(5);
    expect(problems).toContain('COORDINATOR_PORT must be a whole number from 0 to 65535.');
    expect(problems).toContain('LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent.');
    for (const problem of problems) expect(problem).toMatch(/^[A-Z_]+ must be .+\.$/);
  });

  it.each([
    ['COORDINATOR_PORT', 'tcp://10.0.0.1:8080'],
    ['COORDINATOR_PORT', '-1'],
    ['COORDINATOR_PORT', '1e3'],
    ['COORDINATOR_PORT', '8080.5'],
    ['COORDINATOR_HOST', 'a host'],
    ['COORDINATOR_BASE_URL', 'ftp://example.com'],
    ['COORDINATOR_BASE_URL', 'https://example.com/path'],
    ['COORDINATOR_BASE_URL', 'https://user:pass@example.com'],
    ['DATABASE_URL', 'mysql://db/coordinator'],
    ['TEMPORAL_ADDRESS', 'https://temporal:7233'],
    ['TEMPORAL_NAMESPACE', '../other'],
    ['WORKER_POOLS', 'Default'],
    ['WORKER_POOLS', ','],
    ['COORDINATOR_DATABASE_POOL', '0'],
    ['COORDINATOR_ADMIN_EMAIL', 'nobody'],
    ['COORDINATOR_EXECUTOR_USER', 'root; id'],
    ['TEMPORAL_TLS_SERVER_CA_CERT_PATH', '/does/not/exist.pem'],
    ['COORDINATOR_SECRET_KEYS', key],
    ['COORDINATOR_SECRET_KEYS', `k1:${key},k1:${otherKey}`],
    ['COORDINATOR_SECRET_KEYS', `k1:${Buffer.alloc(16).toString('base64')}`],
    ['COORDINATOR_SECRET_KEYS', `k1:${key},`],
  ])('are rejected by name: %s=%s', (name, value) => {
    expect(problemsOf({ [name]: value }).filter((problem) => problem.startsWith(`${name} `))).toHaveLength(1);
  });

  it('never appear in an error when they contain an invalid secret', () => {
    const secrets = { COORDINATOR_SECRET_KEYS: 'k1:hunter2hunter2', DATABASE_URL: 'postgre://user:hunter2@db/x' };
    const problems = problemsOf({
      ...secrets,
      COORDINATOR_ADMIN_EMAIL: 'a@b.c',
      COORDINATOR_ADMIN_PASSWORD: 'hunter2',
    });
    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toContain('hunter2');
  });

  it('may come from the file that NAME_FILE names when they are secrets', () => {
    const directory = makeTestDirectory();
    const fileOf = (name: string, content: string) => {
      writeFileSync(join(directory, name), content);
      return join(directory, name);
    };
    const environment = {
      DATABASE_URL_FILE: fileOf('url', `${required.DATABASE_URL}\n`),
      TEMPORAL_ADDRESS: required.TEMPORAL_ADDRESS,
      COORDINATOR_SECRET_KEYS_FILE: fileOf('keys', `k1:${key}\n`),
      TEMPORAL_API_KEY_FILE: fileOf('api-key', 'secret'),
      METRICS_BEARER_TOKEN_FILE: fileOf('metrics', 'bearer'),
      ENABLE_ADMIN_BOOTSTRAP: 'true',
      ADMIN_BOOTSTRAP_TOKEN_FILE: fileOf('token', 'once'),
      COORDINATOR_ADMIN_EMAIL: 'admin@example.com',
      COORDINATOR_ADMIN_PASSWORD_FILE: fileOf('password', 'correct horse battery'),
      COORDINATOR_SMTP_URL_FILE: fileOf('smtp', 'smtp://delivery:p%40ss@mail.example.com:587'),
      COORDINATOR_PLUGIN_DATABASE_URL_FILE: fileOf('plugins', 'postgres://reader:secret@127.0.0.1/coordinator'),
      COORDINATOR_SMTP_FROM: 'Delivery <delivery@example.com>',
      COORDINATOR_BASE_URL: 'https://delivery.example.com',
    };
    const config = loadConfig(environment);
    expect(config.databaseUrl).toBe(required.DATABASE_URL);
    expect(config.secretKeys.map(({ id }) => id)).toEqual(['k1']);
    expect(config.temporal.apiKey).toBe('secret');
    expect(config.metrics.bearerToken).toBe('bearer');
    expect(config.bootstrap.token).toBe('once');
    expect(config.admin?.password).toBe('correct horse battery');
    expect(loadDatabaseConfig(environment).databaseUrl).toBe(required.DATABASE_URL);
    expect(config.mail).toEqual({
      url: 'smtp://mail.example.com:587',
      account: { user: 'delivery', password: 'p@ss' },
      from: { name: 'Delivery', address: 'delivery@example.com' },
      linkOrigin: 'https://delivery.example.com',
    });
    expect(config.pluginRoots.databaseUrl).toBe('postgres://reader:secret@127.0.0.1/coordinator');
    expect(secretSettings).toHaveLength(8);
  });

  it('are rejected in one sentence when NAME and NAME_FILE are both set, or the file is missing or empty', () => {
    const empty = join(makeTestDirectory(), 'empty');
    writeFileSync(empty, '\n');
    expect(problemsOf({ DATABASE_URL_FILE: empty })).toEqual([
      'DATABASE_URL and DATABASE_URL_FILE are both set: remove one of them.',
    ]);
    expect(problemsOf({ DATABASE_URL: '', DATABASE_URL_FILE: empty })).toEqual([
      `DATABASE_URL is missing: DATABASE_URL_FILE names an empty file (${empty}).`,
    ]);
    expect(problemsOf({ COORDINATOR_SECRET_KEYS: '', COORDINATOR_SECRET_KEYS_FILE: '/does/not/exist' })).toEqual([
      'COORDINATOR_SECRET_KEYS is missing: COORDINATOR_SECRET_KEYS_FILE names a file that cannot be read (/does/not/exist: ENOENT).',
    ]);
    expect(() => loadDatabaseConfig({ DATABASE_URL_FILE: '/does/not/exist' })).toThrow(
      /^DATABASE_URL is missing.*ENOENT/,
    );
  });

  it('do not come from a file when they are not secrets', () => {
    expect(loadConfig({ ...required, COORDINATOR_PORT_FILE: '/does/not/exist' }).port).toBe(8080);
  });

  it('count as not set when the variable is empty', () => {
    expect(loadConfig({ ...required, COORDINATOR_PORT: '', COORDINATOR_BASE_URL: ' ' }).port).toBe(8080);
  });

  it('keep the order of the key ring, newest first', () => {
    const { secretKeys } = loadConfig({ ...required, COORDINATOR_SECRET_KEYS: `new:${otherKey}, old:${key}` });
    expect(secretKeys.map(({ id }) => id)).toEqual(['new', 'old']);
    expect(secretKeys.map(({ key: bytes }) => bytes.length)).toEqual([32, 32]);
  });

  it('include the key ring that start generated in the data directory, and reject a damaged one', () => {
    const COORDINATOR_DATA_DIR = makeTestDirectory();
    const environment = { ...required, COORDINATOR_SECRET_KEYS: '', COORDINATOR_DATA_DIR };
    expect(() => loadConfig(environment)).toThrow('COORDINATOR_SECRET_KEYS is missing');
    mkdirSync(COORDINATOR_DATA_DIR, { recursive: true });
    writeFileSync(join(COORDINATOR_DATA_DIR, 'secret-keys'), `k1:${key}\n`);
    expect(loadConfig(environment).secretKeys).toHaveLength(1);
    writeFileSync(join(COORDINATOR_DATA_DIR, 'secret-keys'), 'k1:damaged');
    expect(() => loadConfig(environment)).toThrow(join(COORDINATOR_DATA_DIR, 'secret-keys'));
  });

  it('are rejected when another setting that they require is missing', () => {
    expect(problemsOf({ ENABLE_ADMIN_BOOTSTRAP: 'true' })).toEqual([
      expect.stringMatching(/^ADMIN_BOOTSTRAP_TOKEN is missing: ENABLE_ADMIN_BOOTSTRAP is set/),
    ]);
    expect(problemsOf({ COORDINATOR_ADMIN_PASSWORD: 'long enough' })).toHaveLength(1);
    expect(problemsOf({ ENABLE_ADMIN_BOOTSTRAP: 'true', ADMIN_BOOTSTRAP_TOKEN: 'token' })).toEqual([]);
  });

  it('enable metrics by default only if the admin listener is on loopback', () => {
    const open = { ...required, COORDINATOR_ADMIN_HOST: '0.0.0.0' };
    expect(loadConfig(required).metrics.enabled).toBe(true);
    expect(loadConfig(open).metrics.enabled).toBe(false);
    expect(loadConfig({ ...open, METRICS_ENABLED: 'true' }).metrics.enabled).toBe(true);
    expect(loadConfig({ ...required, METRICS_ENABLED: 'false' }).metrics.enabled).toBe(false);
  });

  it('turn on TLS with Temporal when a certificate or an API key is set', () => {
    const directory = makeTestDirectory();
    for (const name of ['crt', 'key']) writeFileSync(join(directory, name), name);
    const TEMPORAL_TLS_CLIENT_CERT_PATH = join(directory, 'crt');
    const certified = { TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH: join(directory, 'key') };
    expect(loadConfig(required).temporal).not.toHaveProperty('tls');
    expect(loadConfig({ ...required, TEMPORAL_API_KEY: 'secret' }).temporal.tls).toEqual({});
    expect(loadConfig({ ...required, ...certified }).temporal.tls?.clientCertPair?.crt).toEqual(Buffer.from('crt'));
    expect(problemsOf({ TEMPORAL_TLS_CLIENT_CERT_PATH })).toHaveLength(1);
  });

  it('must name a database and a Temporal server, except for start, which embeds them', () => {
    const { COORDINATOR_SECRET_KEYS } = required;
    expect(() => loadConfig({ COORDINATOR_SECRET_KEYS })).toThrow(
      /DATABASE_URL is missing.+\n.*TEMPORAL_ADDRESS is missing/,
    );
    expect(loadStartConfig({ COORDINATOR_SECRET_KEYS }).databaseUrl).toBeNull();
    expect(loadDatabaseConfig({ DATABASE_URL: required.DATABASE_URL })).toEqual({ databaseUrl: required.DATABASE_URL });
    expect(() => loadDatabaseConfig({})).toThrow('DATABASE_URL is missing');
  });
});

describe('the directory of tools', () => {
  it('is known without a key ring and without a database', () => {
    expect(readToolsDirectory({ COORDINATOR_DATA_DIR: '/srv/coordinator' })).toBe('/srv/coordinator/tools');
    expect(readToolsDirectory({ COORDINATOR_TOOLS_DIRECTORY: '/opt/tools' })).toBe('/opt/tools');
  });

  it('is refused if it is not an absolute path', () => {
    expect(() => readToolsDirectory({ COORDINATOR_TOOLS_DIRECTORY: 'tools' })).toThrow(ConfigurationError);
  });
});
