import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as startRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { openEgress } from '#executors/egress/egress.ts';
import { Relay } from '#executors/host/relay.ts';
import { gitVariables } from '#executors/modules/git-variables.ts';
import { ModuleGate } from '#executors/modules/module-gate.ts';
import { maxPackBytes, SshMirrors } from '#executors/modules/ssh-source.ts';
import { findMissingConnection } from '#executors/opentofu/initialization/module-hint.ts';
import { makeGitRoot, Repository, serveGit } from '#test/support/programs/git.ts';
import { makeSshKey, serveGitOverSsh } from '#test/support/programs/git-over-ssh.ts';

const root = makeGitRoot();
const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-gate-'));
for (const name of ['acme/network', 'acme-secret/network', 'widgets/store'])
  new Repository(join(root.path, name)).commit({ 'main.tf': `# ${name}\n` });
const server = await serveGit(root.path, (request, response) => {
  if (request.url?.startsWith('/acme/moved/')) {
    const to = request.url.includes('/moved/out/') ? '/widgets/store' : '/acme/network';
    response.writeHead(301, { location: `${to}/info/refs?service=git-upload-pack` }).end();
    return true;
  }
  return false;
});
const origin = `http://127.0.0.1:${server.port}`;
const acme: ModuleSource = {
  kind: 'git',
  url: `${origin}/acme`,
  credential: { kind: 'password', username: 'git', password: 'secret-of-acme' },
  identity: 'acme.1',
};
const notes: string[] = [];

/** The relay of an attempt, with the gate of its `init`. */
async function openGate(sources: readonly ModuleSource[] = [acme], allow = ['127.0.0.1']) {
  const egress = openEgress({ policy: 'allow', allow, denied: [] });
  const gates: { current: ModuleGate | null } = { current: null };
  const relay = await Relay.open({ socketPath: null, state: null, proxy: null, modules: () => gates.current });
  const note = (line: string) => notes.push(line);
  const gate = new ModuleGate({ sources, egress, origin: relay.origin, directory, given: [], note });
  gates.current = gate;
  const { environment } = await gate.access();
  const place = /^url\.(.*\/git\/0)\/\.insteadOf$/.exec(environment['GIT_CONFIG_KEY_0'] ?? '')?.[1] ?? '';
  opened.push(relay, egress);
  return { gate, place, relay };
}
const opened: { close(): void }[] = [];
afterAll(async () => {
  for (const each of opened) each.close();
  await server.close();
  root.remove();
  rmSync(directory, { recursive: true, force: true });
});

/** Sends a request as it is written: a client would remove dots from its path. */
function ask(url: string, method = 'GET'): Promise<{ status: number; text: string; location: string | undefined }> {
  const { port } = new URL(url);
  const path = url.slice(new URL(url).origin.length);
  return new Promise((resolve, reject) => {
    const request = startRequest({ host: '127.0.0.1', port, path, method }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(pieces).toString(),
          location: response.headers.location,
        }),
      );
    });
    request.on('error', reject).end();
  });
}

const refs = '/info/refs?service=git-upload-pack';

describe('the gate to private modules', () => {
  it('reads a repository below the URL of its connection, with the credential', async () => {
    const { place } = await openGate();
    const { status, text } = await ask(`${place}/network${refs}`);
    expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining('refs/heads/main') });
    const login = Buffer.from('git:secret-of-acme').toString('base64');
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Basic ${login}`);
  });

  it.each([
    ['a push', '/network/info/refs?service=git-receive-pack', 'GET'],
    ['the upload of a push', '/network/git-receive-pack', 'POST'],
    ['a file of the repository', '/network/HEAD', 'GET'],
    ['another query', `/network${refs}&x=1`, 'GET'],
    ['a repository beside it', `/../widgets/store${refs}`, 'GET'],
    ['a repository beside it, encoded', `/%2e%2e/widgets/store${refs}`, 'GET'],
    ['an encoded separator', `/..%2fwidgets/store${refs}`, 'GET'],
    ['a name that goes on', `-secret/network${refs}`, 'GET'],
    ['another host', `@127.0.0.1:1/x${refs}`, 'GET'],
    ['another method', `/network${refs}`, 'DELETE'],
  ])('refuses %s', async (_what, path, method) => {
    const { place } = await openGate();
    const before = server.requests.length;
    expect((await ask(place + path, method)).status).toBe(403);
    expect(server.requests).toHaveLength(before);
  });

  it('passes on a redirect below the URL of its connection, and none that leads elsewhere', async () => {
    const { place } = await openGate();
    const within = await ask(`${place}/moved/in${refs}`);
    expect(within).toMatchObject({ status: 301, location: `${place}/network${refs}` });
    const out = await ask(`${place}/moved/out${refs}`);
    expect(out).toMatchObject({
      status: 301,
      location: undefined,
      text: expect.stringContaining('redirects elsewhere'),
    });
  });

  it('answers 404 to a guessed name, to another attempt, and once init has ended', async () => {
    const { place, relay, gate } = await openGate();
    const another = await openGate();
    expect((await ask(`${relay.origin}/modules/guessed/git/0/network${refs}`)).status).toBe(404);
    const path = place.slice(relay.origin.length);
    expect((await ask(`${another.relay.origin}${path}/network${refs}`)).status).toBe(404);
    await gate.close();
    expect((await ask(`${place}/network${refs}`)).status).toBe(404);
  });

  it("does not connect to a host that the pool's egress policy refuses", async () => {
    const { place } = await openGate([acme], ['git.example.com']);
    const before = server.requests.length;
    expect((await ask(`${place}/network${refs}`)).status).toBe(403);
    expect(notes.at(-1)).toContain('network: refused: ');
    expect(server.requests).toHaveLength(before);
  });
});

describe('copies of repositories over SSH', () => {
  /** Lets mirrors that may have so many bytes answer at a place. */
  async function serveCopies(
    maxBytes: number,
    use: (place: string, ssh: Awaited<ReturnType<typeof serveGitOverSsh>>) => Promise<void>,
  ): Promise<void> {
    const key = makeSshKey();
    const ssh = await serveGitOverSsh(root.path, key);
    const egress = openEgress({ policy: 'allow', allow: ['127.0.0.1'], denied: [] });
    const mirrors = new SshMirrors(egress, directory, maxBytes);
    try {
      const url = `ssh://git@127.0.0.1:${ssh.port}/acme/`;
      const credential = { kind: 'ssh_key', privateKey: key.private, knownHosts: ssh.knownHosts } as const;
      const server = createServer((request, response) => {
        const asked = { method: 'GET', repository: new URL(`${url}${request.url?.slice(1)}`), end: refs } as const;
        mirrors.answer({ url, credential }, { asked, request, response }).catch((error: Error) => {
          response.writeHead(403).end(error.message);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const place = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await use(place, ssh);
      await new Promise((resolve) => server.close(resolve));
    } finally {
      await mirrors.close();
      egress.close();
      await ssh.close();
    }
  }

  /** Each is another copy. */
  const spellings = [...'network'].map((letter, at) => {
    const code = letter.charCodeAt(0).toString(16);
    return `/${'network'.slice(0, at)}%${code}${'network'.slice(at + 1)}`;
  });

  it('are refused with 403 once they could be too large together, even for another spelling of an address', () =>
    serveCopies(maxPackBytes, async (place, ssh) => {
      expect((await ask(`${place}/network`)).status).toBe(200);
      expect((await ask(`${place}/network`)).status).toBe(200);
      expect(await ask(`${place}/%6eetwork`)).toMatchObject({ status: 403, text: expect.stringContaining('together') });
      expect(ssh.commands).toHaveLength(1);
    }));

  it('are refused with 403 once they could be too large together, even for simultaneous requests', () =>
    serveCopies(maxPackBytes, async (place, ssh) => {
      const asked = await Promise.all(spellings.map((spelling) => ask(`${place}${spelling}`)));
      expect(asked.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403, 403]);
      expect(ssh.commands).toHaveLength(1);
    }));

  it('are made four at a time, and waiting copies get the space that the others did not need', () =>
    serveCopies(5 * maxPackBytes, async (place, ssh) => {
      const asked = await Promise.all(spellings.map((spelling) => ask(`${place}${spelling}`)));
      expect(asked.map(({ status }) => status)).toEqual(spellings.map(() => 200));
      expect(ssh.busiest()).toBeLessThanOrEqual(4);
    }));
});

describe('the variables that lead git to the module gate', () => {
  it("cover every notation of a repository's address, and keep the run's own configuration", () => {
    const given = [
      { name: 'GIT_CONFIG_COUNT', value: '1' },
      { name: 'GIT_CONFIG_KEY_0', value: 'http.version' },
    ];
    const redirections = [
      { url: 'ssh://git@git.example.com/acme/', place: 'http://relay/0' },
      { url: 'https://git.example.com/acme', place: 'http://relay/1' },
    ];
    expect(gitVariables(redirections, given)).toEqual({
      GIT_CONFIG_COUNT: '6',
      GIT_CONFIG_KEY_1: 'url.http://relay/0/.insteadOf',
      GIT_CONFIG_VALUE_1: 'ssh://git@git.example.com/acme/',
      GIT_CONFIG_KEY_2: 'url.http://relay/0/.insteadOf',
      GIT_CONFIG_VALUE_2: 'ssh://git@git.example.com:22/acme/',
      GIT_CONFIG_KEY_3: 'url.http://relay/0/.insteadOf',
      GIT_CONFIG_VALUE_3: 'git@git.example.com:acme/',
      GIT_CONFIG_KEY_4: 'url.http://relay/1/.insteadOf',
      GIT_CONFIG_VALUE_4: 'https://git.example.com/acme/',
      GIT_CONFIG_KEY_5: 'url.http://relay/1.insteadOf',
      GIT_CONFIG_VALUE_5: 'https://git.example.com/acme',
    });
  });
});

describe('the hint at a missing connection', () => {
  it.each([
    [
      "fatal: could not read Username for 'https://git.example.com':\nterminal prompts disabled",
      'a git connection whose URL begins with https://git.example.com/',
    ],
    [
      "error downloading\n'ssh://git@git.example.com/acme/x.git': /usr/bin/git exited with 128: ssh: Could not\nresolve hostname\nfatal: Could not read from remote\nrepository.",
      'a git connection whose URL begins with ssh://git@git.example.com/',
    ],
    [
      'Failed to retrieve available versions for module "x" (main.tf:1) from\nregistry.example.com: error looking up module versions: 401 Unauthorized.',
      'a registry connection for registry.example.com',
    ],
  ])('names the host and the kind of connection', (printed, wanted) => {
    expect(findMissingConnection(printed)?.hint).toContain(wanted);
  });

  it('says nothing about other errors', () => {
    expect(findMissingConnection('Error: Unclosed configuration block\n\n  on main.tf line 3')).toBeNull();
  });
});
