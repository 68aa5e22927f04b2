import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { makeDirectory } from '#test/support/directories.ts';
import { Program, processTree, whatIsLeft } from '#test/support/programs/start.ts';

/** One data directory, on which the service is started repeatedly, as on a new user's machine. */
const dataDir = makeDirectory();
const started: Program[] = [];
let password = '';
let runs: { instance?: string }[] = [];
let runsPath = '';
/** From the first start to its address, in milliseconds. */
let firstTook = 0;

function start(settings: Record<string, string | undefined> = {}): Program {
  const program = Program.start({ COORDINATOR_DATA_DIR: dataDir, ...settings });
  started.push(program);
  return program;
}

function readServiceFile(): { url: string; admin_url: string; pid: number } {
  return JSON.parse(readFileSync(join(dataDir, 'service.json'), 'utf8'));
}

async function signIn(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/auth/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin@example.com', password }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { token: string }).token;
}

async function listRuns(url: string, token: string): Promise<unknown[]> {
  const response = await fetch(`${url}${runsPath}`, { headers: { authorization: `Bearer ${token}` } });
  return ((await response.json()) as { runs: { instance?: string }[] }).runs;
}

// A busy machine starts the whole service in minutes.
vi.setConfig({ testTimeout: 300_000 });

const ready = /Ready {2}(http:\/\/127\.0\.0\.1:\d+)/;

afterAll(async () => {
  for (const program of started) if (!program.hasEnded) await program.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('start', () => {
  it('creates everything at the first start, runs the sample to success, and prints a curl command that works', async () => {
    const startedAt = Date.now();
    const program = start();
    await program.says(ready);
    firstTook = Date.now() - startedAt;
    await program.says(/Stop {3}Ctrl-C/);
    password = (await program.says(/Password +(\S{20}) /))[1] ?? '';
    await program.says(/Greeting by a command: succeeded, outputs {"message":"Hello from a command template"}/);
    if (!program.output.includes('Neither tofu nor terraform')) await program.says(/Greeting by OpenTofu: succeeded/);
    const [, line = ''] = await program.says(/Try +(curl .+)/);
    runsPath = /'http[^']+(\/api[^']+)'$/.exec(line)?.[1] ?? '';
    ({ runs } = JSON.parse(execFileSync('/bin/sh', ['-c', `${line} --silent`], { encoding: 'utf8' })));
    expect(runs.length).toBeGreaterThan(0);
    await program.says(/Sample shop: its node "api" waits for your approval/);
    await program.says(/Created a paused schedule/);
    await program.says(/Undo of the second run of "Greeting by \w+" was checked: it (can be undone|says why)/);
    await program.says(/Drift monitor: what is deployed in the environment is scanned once a day/);
    for (const run of runs)
      expect(run).toMatchObject({ status: run.instance === 'api' ? 'pending_approval' : 'succeeded' });
    const [, path = ''] = /-H '@([^']+)'/.exec(line) ?? [];
    const token = readFileSync(path, 'utf8').replace('Authorization: Bearer ', '').trim();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(program.output).not.toContain(token);
  });

  it('writes its addresses for other programs, and only its owner can read its secrets', async () => {
    const service = readServiceFile();
    expect(service.pid).toBe(started[0]?.pid);
    for (const url of [`${service.url}/readyz`, `${service.admin_url}/readyz/internal`]) {
      expect((await fetch(url)).status).toBe(200);
    }
    for (const name of ['secret-keys', 'postgres-password', 'postgres', 'temporal']) {
      expect(statSync(join(dataDir, name)).mode & 0o077, name).toBe(0);
    }
    const logs = ['api', 'worker', 'postgres', 'temporal'].map((name) =>
      readFileSync(join(dataDir, 'logs', `${name}.log`)),
    );
    const secrets = [password, readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim()];
    for (const secret of secrets) expect(Buffer.concat(logs).includes(secret)).toBe(false);
  });

  it('refuses in one sentence to start on a data directory that is in use', async () => {
    const second = start();
    expect(await second.ends()).toBe(1);
    const sentence = `A coordinator (process ${started[0]?.pid}) already runs on ${dataDir}: stop it, or choose another directory with COORDINATOR_DATA_DIR.\n`;
    expect(second.output).toBe(sentence);
    expect((await fetch(`${readServiceFile().url}/readyz`)).status).toBe(200);
  });

  it('restarts a killed API at the same address', async () => {
    const { url } = readServiceFile();
    const api = processTree(started[0]?.pid ?? 0).find(({ command }) => command.endsWith('main.js api'));
    process.kill(api?.pid ?? 0, 'SIGKILL');
    await started[0]?.says(/The api ended unexpectedly \(SIGKILL\); restarting in 1 s\./);
    await started[0]?.says(/The api is running again\./);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('leaves no process behind when it is killed with SIGKILL', async () => {
    const tree = processTree(started[0]?.pid ?? 0);
    const commands = tree.map(({ command }) => command).join('\n');
    for (const part of ['main.js api', 'main.js worker', 'postgres', 'temporal']) expect(commands).toContain(part);
    await started[0]?.stop('SIGKILL');
    expect(await whatIsLeft(tree)).toEqual([]);
  });

  it('starts as quickly after being killed as at first, and keeps all data', async () => {
    const startedAt = Date.now();
    const program = start();
    const [, url = ''] = await program.says(ready);
    // Nothing is left to create, and nothing of the killed service is waited for. Other tests may take twice the machine meanwhile.
    expect(Date.now() - startedAt).toBeLessThan(2 * firstTook);
    expect(program.output).not.toMatch(/Password|sample|Greeting/);
    expect(await listRuns(url, await signIn(url))).toEqual(runs);
  });

  it('stops cleanly when asked: exit code 0, no service file, no process left', async () => {
    const program = started.at(-1) as Program;
    const tree = processTree(program.pid);
    // Twice, as a terminal and npm both send it.
    program.child.kill('SIGINT');
    await program.says(/Stopping/);
    expect(await program.stop('SIGINT')).toBe(0);
    expect(existsSync(join(dataDir, 'service.json'))).toBe(false);
    expect(await whatIsLeft(tree)).toEqual([]);
    expect(readFileSync(join(dataDir, 'logs', 'postgres.log'), 'utf8')).toContain('database system is shut down');
    expect(program.output).not.toContain('unexpectedly');
    expect(existsSync(join(dataDir, 'start.sock'))).toBe(false);
  });

  it('stops at once at a second signal, and leaves no process behind', async () => {
    const program = start();
    await program.says(ready);
    const tree = processTree(program.pid);
    // A worker that does not react delays the orderly stop.
    const worker = tree.find(({ command }) => command.endsWith('main.js worker'));
    process.kill(worker?.pid ?? 0, 'SIGSTOP');
    program.child.kill('SIGINT');
    await program.says(/Stopping/);
    // A second signal within one second counts as the same Ctrl-C.
    await delay(1_100);
    expect(program.hasEnded).toBe(false);
    expect(await program.stop('SIGINT')).toBe(130);
    process.kill(worker?.pid ?? 0, 'SIGCONT');
    expect(existsSync(join(dataDir, 'service.json'))).toBe(false);
    expect(await whatIsLeft(tree)).toEqual([]);
  });

  it('stops when the npm that started it is killed', async () => {
    const settings = { COORDINATOR_DATA_DIR: dataDir, npm_lifecycle_event: 'start' };
    const { PATH, HOME } = process.env;
    const environment = { PATH, HOME, COORDINATOR_PORT: '0', COORDINATOR_ADMIN_PORT: '0', ...settings };
    const parent = new Program(
      ['/bin/sh', '-c', `'${process.execPath}' build/current/main.js start; true`],
      environment,
    );
    started.push(parent);
    await parent.says(ready);
    const tree = processTree(parent.pid);
    expect(tree.length).toBeGreaterThan(8);
    parent.child.kill('SIGKILL');
    expect(await whatIsLeft(tree)).toEqual([]);
  });

  it('stops everything that it has started when it is asked to stop while starting', async () => {
    const program = start();
    await program.says(/Temporal is ready/);
    const isStarting = () => processTree(program.pid).some(({ command }) => command.endsWith('main.js api'));
    await expect.poll(isStarting).toBe(true);
    const tree = processTree(program.pid);
    expect(await program.stop()).toBe(0);
    expect(await whatIsLeft(tree)).toEqual([]);
  });

  it('exits with a sentence when its database is killed', async () => {
    const program = start();
    await program.says(ready);
    const tree = processTree(program.pid);
    const postgres = tree.find(({ command }) => command.includes('bin/postgres') && !command.startsWith('/bin/sh'));
    process.kill(postgres?.pid ?? 0, 'SIGKILL');
    expect(await program.ends()).toBe(1);
    expect(program.output).toContain('The embedded PostgreSQL ended unexpectedly: see ');
    expect(await whatIsLeft(tree)).toEqual([]);
  });
});
