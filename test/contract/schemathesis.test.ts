import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findClientTools } from '#test/support/programs/client-tools.ts';
import { administrator, type System, startSystem } from '#test/support/system.ts';
import { makeKnownIds, toSettings } from './known-ids.ts';

/** The number of requests of each phase for an operation, the seed that repeats a run, and a pattern that limits the paths. */
const { CONTRACT_EXAMPLES = '50', CONTRACT_SEED = String(Date.now() % 1_000_000), CONTRACT_PATHS } = process.env;

/** These end the session that Schemathesis uses, or follow a run until it ends. */
const excluded = ['auth.sign_out', 'profile.change_password', 'runs.stream_logs'];

/**
 * Schemathesis sends its valid credential beside an invalid one, and cannot know rules that no schema can say, such as a password
 * that is too common.
 */
const excludedChecks = ['ignored_auth', 'positive_data_acceptance'];

let system: System;
let directory: string;

beforeAll(async () => {
  system = await startSystem({
    COORDINATOR_REQUESTS_PER_PRINCIPAL: '0',
    COORDINATOR_REQUESTS_PER_ADDRESS: '0',
    COORDINATOR_ISSUER: 'https://coordinator.example.com',
  });
  directory = mkdtempSync(join(tmpdir(), 'coordinator-contract-'));
  const general = readFileSync(join(import.meta.dirname, 'schemathesis.toml'), 'utf8');
  writeFileSync(join(directory, 'settings.toml'), `${general}\n${toSettings(await makeKnownIds(system))}`);
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await system.close();
});

it('every operation answers generated requests as the document says', async () => {
  const tools = findClientTools('python');
  if (tools === null)
    throw new Error('Schemathesis is not installed: install Python 3.10 or later and repeat the set-up');
  const { token } = (
    await system.administrator.post('/auth/sessions', {
      email: administrator.email,
      password: administrator.password,
    })
  ).body;
  console.log(`CONTRACT_SEED=${CONTRACT_SEED} CONTRACT_EXAMPLES=${CONTRACT_EXAMPLES}`);
  const arguments_ = [
    '--config-file',
    join(directory, 'settings.toml'),
    'run',
    `${system.url}/api/v1/openapi.json`,
    '--header',
    `Authorization: Bearer ${token}`,
    '--seed',
    CONTRACT_SEED,
    '--max-examples',
    CONTRACT_EXAMPLES,
    '--workers',
    '1',
    '--continue-on-failure',
    '--generation-database',
    'none',
    // An answer may be waited for 30 seconds.
    '--request-timeout',
    '60',
    '--generation-with-security-parameters',
    'false',
    '--exclude-checks',
    excludedChecks.join(','),
    ...excluded.flatMap((id) => ['--exclude-operation-id', id]),
    ...(CONTRACT_PATHS ? ['--include-path-regex', CONTRACT_PATHS] : []),
  ];
  const child = spawn(join(tools, 'venv', 'bin', 'schemathesis'), arguments_, {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect(code).toBe(0);
});
