import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadConfig } from '#config';
import { FreezeWindows } from '#domain/environments/freeze-windows.ts';
import { NewHold } from '#domain/holds/model.ts';
import { maxReadDepth } from '#domain/shared/values/exact-json.ts';
import { maxDigits, maxStoredDepth } from '#domain/shared/values/storable.ts';
import { statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import { waitingCodes } from '#domain/shared/vocabulary/waiting.ts';
import { resultLimits } from '#executors/shared/result-limits.ts';
import { findFreePort } from '#local/ports.ts';
import { createEmptyDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { makeDataDirectory } from '#test/support/directories.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { createNamespace } from '#test/support/system.ts';
import { executionLimits } from '#worker/executor.ts';
import { codeBlocks, tableUnder } from './markdown.ts';

const page = 'docs/operating.md';
const password = 'correct horse battery';

describe('the tables of codes', () => {
  it('list every status reason with its description and advice', () => {
    const rows = tableUnder(page, '## Why did it end?');
    expect(rows.map(([code, meaning]) => [code, meaning])).toEqual(
      Object.entries(statusReasons).map(([code, meaning]) => [`\`${code}\``, meaning]),
    );
    expect(rows.filter(([, , advice]) => !advice)).toEqual([]);
  });

  it('list every code of waiting_on', () => {
    const rows = tableUnder(page, '## Why is it waiting?');
    expect(rows.map(([code]) => code)).toEqual(waitingCodes.map((code) => `\`${code}\``));
    expect(rows.filter((cells) => cells.length !== 3 || cells.includes(''))).toEqual([]);
  });
});

describe('the examples of blockers of applies', () => {
  const read = (name: string) => JSON.parse(codeBlocks(page).find(({ info }) => info === `json ${name}`)?.text ?? '');

  it('can be sent as they are', () => {
    expect(NewHold.safeParse(read('lock'))).toMatchObject({ success: true });
    expect(FreezeWindows.safeParse(read('freeze-windows').freeze_windows)).toMatchObject({ success: true });
  });
});

describe('the table of limits', () => {
  it('states the limits of an attempt', () => {
    const units: Record<string, number> = { GiB: 1024 ** 3, MiB: 1024 ** 2 };
    const values = tableUnder(page, '## Workers and pools').map(([name, value = '']) => {
      const [, amount, unit = ''] = /^(\d+)(?: (GiB|MiB))?/.exec(value) ?? [];
      return [name, Number(amount) * (units[unit] ?? 1)];
    });
    const { output, log, directory, memory, processes, files, cpu } = Object.fromEntries(values);
    const config = loadConfig({
      DATABASE_URL: 'postgres://unused/unused',
      TEMPORAL_ADDRESS: 'unused:7233',
      COORDINATOR_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    });
    expect({
      outputBytes: output,
      logBytes: log,
      directoryBytes: directory,
      memoryBytes: memory,
      processes,
      openFiles: files,
      cpuSeconds: cpu,
    }).toEqual(executionLimits(config));
  });
});

describe('the table of what a run may carry', () => {
  it('states the limits in their units', () => {
    const rows = tableUnder(page, '### What a run may carry').map(([what, limit]) => `${what}: ${limit}`);
    const count = (amount: number) => amount.toLocaleString('en');
    const mebibytes = (bytes: number) => `${bytes / 1024 ** 2} MiB`;
    const l = resultLimits;
    for (const row of [
      `a value in the environment of steps: ${l.environmentValueLength / 1024} KiB`,
      `a plan file of OpenTofu or Terraform: ${mebibytes(l.planFileBytes)}`,
      `the same plan as JSON: ${mebibytes(l.planJsonBytes)}`,
      `\`plan.json\` of steps: ${mebibytes(l.commandPlanBytes)}, ${count(l.commandChanges)} changes`,
      `the directory \`plan\` of steps, with \`plan.json\`: ${mebibytes(l.planDirectoryBytes)}, ${count(l.planDirectoryFiles)} files`,
      `an address in a plan: ${count(l.addressLength)} characters`,
      `a state of OpenTofu or Terraform: ${mebibytes(l.stateBytes)}`,
      `\`state.json\` of steps: ${mebibytes(l.commandStateBytes)}`,
      `\`outputs.json\` of steps: ${mebibytes(l.outputsBytes)}`,
      `JSON that tools and steps write: ${count(maxReadDepth)} levels`,
      `a value in a plan or an output: ${maxStoredDepth} levels`,
      `a number in a plan or an output: ${count(maxDigits)} digits, written without an exponent`,
    ])
      expect(rows).toContain(row);
  });
});

describe('the commands for the processes', () => {
  let database: TestDatabase;
  let dataDir: string;
  let environment: Record<string, string>;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    dataDir = makeDataDirectory();
    environment = {
      COORDINATOR_DATA_DIR: dataDir,
      COORDINATOR_PORT: String(await findFreePort()),
      COORDINATOR_ADMIN_PORT: String(await findFreePort()),
      TEMPORAL_NAMESPACE: await createNamespace(),
      PASSWORD: password,
      LOG_LEVEL: 'warn',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    };
  });
  afterAll(async () => {
    await database?.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('start healthy processes, and start them again with a new key', { timeout: 180_000 }, async () => {
    const [start = '', probe = '', audit = '', chain = '', rotate = '', reseal = '', recover = '', pools = ''] =
      codeBlocks(page)
        .filter(({ info }) => info === 'sh tried')
        .map(({ text }) => text);
    const again = ['node src/main.ts api &', 'node src/main.ts worker &', 'await_ready', 'stop', 'echo done'];
    const script = [
      helpers,
      onServices(start),
      'await_ready',
      onPorts(probe),
      inScratch(onPorts(audit)),
      inScratch(onPorts(chain)),
      inScratch(onPorts(pools)),
      'stop',
      rotate,
      reseal,
      recover,
      ...again,
    ].join('\n');
    const options = { shell: 'bash', input: script, withinMs: 170_000 };
    const { code, output, errors } = await runShell(['-u'], environment, options);
    expect(code, `${errors}\n…${output.slice(-3000)}`).toBe(0);
    expect(output).toContain(
      '{"status":"ready","checks":{"database":"ok","temporal":"ok","migrations":"ok","key_ring":"ok"}}',
    );
    expect(output).toContain('http_request_duration_seconds_bucket');
    expect(output).toMatch(/^x-audit-complete-until: \S+Z\r?\n^x-audit-records: [1-9]\d*\r?$/im);
    expect(output).toMatch(/"valid":true.*"problems":\[\]/);
    expect(output).toMatch(/"name":"guarded".*"policy":"internet","allow":\["registry\.opentofu\.org"\].*"revision":2/);
    expect(output).toContain('Nothing in the database needs an old key.');
    expect(output).toMatch(/\ndone\n$/);
  });

  /** Shell functions that wait until the service is ready, and that stop it as an operator would. */
  const helpers = `
set -e
trap 'kill -KILL $(jobs -p) 2> /dev/null || true' EXIT
stop() { kill $(jobs -p); wait; }
try() {
  n=0
  until "$@"; do
    n=$((n + 1)); [ $n -lt 300 ] || { echo "not within a minute: $*"; exit 9; }
    sleep 0.2
  done
}
ask() { curl -sf -H 'Content-Type: application/json' "$@"; }
worker_is_active() { ask -H "Authorization: Bearer $token" "$url/workers" | grep -q '"status":"active"'; }
await_ready() {
  url=http://127.0.0.1:$COORDINATOR_PORT/api/v1
  try ask -o /dev/null http://127.0.0.1:$COORDINATOR_PORT/readyz
  try ask -o /dev/null http://127.0.0.1:$COORDINATOR_ADMIN_PORT/healthz
  token=$(ask $url/auth/sessions -d "{\\"email\\":\\"admin@example.com\\",\\"password\\":\\"$PASSWORD\\"}" |
    grep -o '"token":"[^"]*"' | cut -d'"' -f4)
  try worker_is_active
}
`;

  /** Runs commands with the session's token in a temporary directory. */
  const inScratch = (text: string) => `(\nset -e\ncd "$COORDINATOR_DATA_DIR"\nTOKEN=$token\n${text})`;

  const onServices = (text: string) =>
    text
      .replace(/DATABASE_URL=\S+/, `DATABASE_URL='${database.url}'`)
      .replace(/TEMPORAL_ADDRESS=\S+/, `TEMPORAL_ADDRESS=${inject('temporalAddress')}`);

  const onPorts = (text: string) =>
    text.replaceAll(':8080', ':$COORDINATOR_PORT').replaceAll(':9090', ':$COORDINATOR_ADMIN_PORT');
});

it('the command that makes an idempotency key from the name of a job prints the UUID of version 5', async () => {
  const input = codeBlocks(page).find(({ info }) => info === 'sh key')?.text ?? '';
  const { output, errors } = await runShell(['-eu'], {}, { shell: 'sh', input });
  expect([output.trim(), errors]).toEqual(['41f8bd6e-737b-5826-87bf-13bea3bb5c67', '']);
});
