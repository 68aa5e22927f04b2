import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { lookUpAccount } from '#local/account/account.ts';
import { SampleClient } from '#local/sample/client.ts';
import { findTemporalProgram } from '#local/temporal.ts';
import { knockAt, listeningPorts, stranger, usersOf } from '#test/support/access/stranger.ts';
import { shareCaches } from '#test/support/directories.ts';
import { Repository } from '#test/support/programs/git.ts';
import { Program, processTree, programEnvironment, whatIsLeft } from '#test/support/programs/start.ts';

/** Tests which privileges root drops, and what other users on the machine can reach. */
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const root = fileURLToPath(new URL('../..', import.meta.url));
const administrator = { email: 'root@example.com', password: 'correct horse battery' };

/** Only root can enter it, as with /root. It holds the checkout and the data directory of the service. */
const closed = mkdtempSync(join(tmpdir(), 'coordinator-closed-'));
/** Holds what git and the tests need to access. */
const open = mkdtempSync(join(tmpdir(), 'coordinator-open-'));
const dataDir = join(closed, 'data');
const gitUsers = join(open, 'users-of-git');
let program: Program;
let url = '';

/** A `git` that records which user ran it. */
function writeGit(directory: string): void {
  mkdirSync(directory);
  const script = `#!/bin/sh\nid -u >> ${gitUsers}\nPATH=\${PATH#*:}\nexec git "$@"\n`;
  writeFileSync(join(directory, 'git'), script, { mode: 0o755 });
  writeFileSync(gitUsers, '');
  chmodSync(gitUsers, 0o666);
}

function copyCheckout(): string {
  const checkout = join(closed, 'checkout');
  for (const part of ['src', 'migrations', 'docs', 'package.json']) {
    cpSync(join(root, part), join(checkout, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  return checkout;
}

/** Gives a data directory of another user the workflows that the test run has bundled, if it has. */
function copyBundles(directory: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  const [from, to] = [join(inject('scratchDirectory'), 'cache'), join(directory, 'cache')];
  const bundles = readdirSync(from).filter((name) => /^workflows-\w+\.js$/.test(name));
  mkdirSync(to, { mode: 0o700 });
  for (const name of bundles) copyFileSync(join(from, name), join(to, name));
  for (const path of [to, ...bundles.map((name) => join(to, name))]) chownSync(path, uid, gid);
}

const tree = () => processTree(program.pid);
/** The processes that stay root, since they start other processes as other users. */
const keepsRoot = ({ command }: { command: string }) =>
  /main\.ts (start|worker)$|executors\//.test(command) || command.startsWith('bwrap ');

/** The port of the proxy to Temporal, and the sockets of the servers. */
function serverTargets(stack: Program, directory: string): (number | string)[] {
  const service = JSON.parse(readFileSync(join(directory, 'service.json'), 'utf8')) as Record<string, string>;
  const known = [service['url'], service['admin_url']].map((each) => Number(new URL(each ?? '').port));
  const proxies = listeningPorts(processTree(stack.pid)).filter((port) => !known.includes(port));
  expect(proxies).toHaveLength(1);
  return [...proxies, join(directory, 'sockets', 'temporal.sock'), join(directory, 'sockets', '.s.PGSQL.5432')];
}

/** Puts the Temporal server's program where every user can execute it. */
function shareTemporal(directory: string): void {
  const [from, to] = [findTemporalProgram(), join(directory, 'temporal')];
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to); // The directory is on another file system.
  }
}

describe.runIf(isRoot)('a service that root started', () => {
  beforeAll(async () => {
    chmodSync(open, 0o755);
    writeGit(join(open, 'bin'));
    mkdirSync(dataDir, { mode: 0o711 });
    shareCaches(dataDir);
    const environment = programEnvironment({
      PATH: `${join(open, 'bin')}${delimiter}${process.env['PATH']}`,
      COORDINATOR_DATA_DIR: dataDir,
      COORDINATOR_ADMIN_EMAIL: administrator.email,
      COORDINATOR_ADMIN_PASSWORD: administrator.password,
      COORDINATOR_SAMPLE: 'false',
      COORDINATOR_OUTBOUND_ALLOW: `file://${open}`,
    });
    // The most permissive umask: the service must not depend on it.
    const start = ['umask 000; exec "$0" "$@"', process.execPath, 'src/main.ts', 'start'];
    program = new Program(['sh', '-c', ...start], environment, copyCheckout());
    url = (await program.says(/Ready {2}(http:\/\/127\.0\.0\.1:\d+)/, 110_000))[1] ?? '';
  }, 120_000);

  afterAll(async () => {
    await program?.stop();
    for (const directory of [closed, open]) rmSync(directory, { recursive: true, force: true });
  });

  it('starts even if its account can enter neither the checkout nor the data directory', async () => {
    const readiness = async () => (await fetch(`${url}/readyz`)).status;
    await expect.poll(readiness).toBe(200);
    const page = await (await fetch(`${url}/login`)).text();
    const [, stylesheet = ''] = /href="(\/assets\/[^"]+\.css)"/.exec(page) ?? [];
    for (const path of [stylesheet, '/api/docs', '/api/docs/static/swagger-ui.css']) {
      expect((await fetch(`${url}${path}`)).status, path).toBe(200);
    }
  });

  it('gives other users no access to the ports and sockets of PostgreSQL and Temporal', async () => {
    const targets = serverTargets(program, dataDir);
    expect((await knockAt(targets, null)).slice(0, 2)).toEqual(['answered', 'answered']);
    expect(await knockAt(targets, stranger)).toEqual(['closed', 'EACCES', 'EACCES']);
  });

  it('runs the API, PostgreSQL and Temporal as one unprivileged account, and the executor host as another', () => {
    const commands = tree().map(({ command }) => command);
    for (const part of ['main.ts api', 'bin/postgres -D', 'temporal server start-dev', 'socat']) {
      expect(
        commands.some((command) => command.includes(part)),
        part,
      ).toBe(true);
    }
    const account = JSON.parse(readFileSync(join(dataDir, 'account.json'), 'utf8')).uid;
    const isHost = ({ command }: { command: string }) => command.includes('executors/host/main.ts');
    const others = tree().filter((entry) => !keepsRoot(entry) && !isHost(entry));
    expect(new Set(others.flatMap(({ pid }) => usersOf(pid)))).toEqual(new Set([account]));
    const host = new Set(
      tree()
        .filter(isHost)
        .flatMap(({ pid }) => usersOf(pid)),
    );
    expect(host.size).toBe(1);
    expect([...host]).not.toContain(0);
    expect([...host]).not.toContain(account);
  });

  it('lets other users write none of its files, whatever its umask is', () => {
    const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((path) => join(dataDir, path));
    const files = paths.map((path) => ({ path, stat: lstatSync(path, { throwIfNoEntry: false }) }));
    const kept = files.filter(({ stat }) => stat?.isFile() || stat?.isDirectory());
    expect(kept.length).toBeGreaterThan(100);
    expect(kept.filter(({ stat }) => ((stat?.mode ?? 0) & 0o022) !== 0).map(({ path }) => path)).toEqual([]);
  });

  it('runs git as an unprivileged user when a version is published', async () => {
    const repository = new Repository(join(open, 'repository'));
    repository.commit({ 'main.tf': 'resource "terraform_data" "x" {}\n' });
    const client = await SampleClient.signIn(url, administrator.email, administrator.password);
    const organization = await client.create('/organizations', { name: 'Acme', slug: 'acme' });
    const teamId = await client.create(`/organizations/${organization}/teams`, { name: 'Platform', slug: 'platform' });
    const template = { name: 'Network', slug: 'network', description: '', team_id: teamId, tags: [] };
    const templateId = await client.create('/registry/templates', template);
    const spec = { executor: { kind: 'opentofu', git: { url: repository.url, ref: 'main' } } };
    await client.publish(`/registry/templates/${templateId}/versions`, { version: '1.0.0', spec, changelog: 'First.' });
    const users = readFileSync(gitUsers, 'utf8').trim().split('\n');
    expect(users.length).toBeGreaterThan(2);
    expect(users).not.toContain('0');
  });

  it('opens no debugger on SIGUSR1 in any of its processes', async () => {
    const before = listeningPorts(tree());
    const ours = tree().filter(({ command }) => /main\.ts (start|api|worker)$/.test(command));
    expect(ours).toHaveLength(3);
    expect(ours.filter(({ command }) => !command.includes('--disable-sigusr1'))).toHaveLength(1);
    for (const { pid } of ours) process.kill(pid, 'SIGUSR1');
    // Nothing tells that a process has handled a signal without opening a port.
    await delay(1000);
    expect(listeningPorts(tree())).toEqual(before);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(program.output).not.toContain('Debugger');
  });

  it('leaves no server, relay or network behind when it is killed with SIGKILL', async () => {
    const processes = tree();
    expect(processes.some(({ command }) => command.startsWith('bwrap '))).toBe(true);
    await program.stop('SIGKILL');
    expect(await whatIsLeft(processes)).toEqual([]);
  });
});

/** `initdb` needs a user with a name, and every Linux system has this one. */
const ordinary = isRoot ? lookUpAccount('bin') : null;

describe.runIf(ordinary !== null)('a service that an ordinary user started', () => {
  it('is not accessible to other users, and runs only as that user', async () => {
    const shared = mkdtempSync(join(tmpdir(), 'coordinator-ordinary-'));
    const directory = join(shared, 'data');
    chmodSync(shared, 0o755);
    shareTemporal(shared);
    mkdirSync(directory, { mode: 0o700 });
    chownSync(directory, ordinary?.uid ?? -1, ordinary?.gid ?? -1);
    if (ordinary) copyBundles(directory, ordinary);
    const environment = programEnvironment({
      PATH: `${shared}${delimiter}${process.env['PATH']}`,
      HOME: shared,
      COORDINATOR_DATA_DIR: directory,
      COORDINATOR_SAMPLE: 'false',
    });
    const change = ['setpriv', `--reuid=${ordinary?.uid}`, `--regid=${ordinary?.gid}`, '--clear-groups'];
    const stack = new Program(
      [change[0] ?? '', ...change.slice(1), process.execPath, 'src/main.ts', 'start'],
      environment,
    );
    try {
      await stack.says(/Ready {2}/, 110_000);
      const targets = serverTargets(stack, directory);
      expect((await knockAt(targets, ordinary)).slice(0, 2)).toEqual(['answered', 'answered']);
      expect(await knockAt(targets, stranger)).toEqual(['closed', 'EACCES', 'EACCES']);
      const users = processTree(stack.pid).flatMap(({ pid }) => usersOf(pid));
      expect(new Set(users)).toEqual(new Set([ordinary?.uid]));
      expect(await stack.stop()).toBe(0);
    } finally {
      if (!stack.hasEnded) await stack.stop('SIGKILL');
      rmSync(shared, { recursive: true, force: true });
    }
  }, 120_000);
});
