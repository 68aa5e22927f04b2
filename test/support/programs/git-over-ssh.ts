import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import ssh2 from 'ssh2';

const { Server, utils } = ssh2;

export interface SshKey {
  /** PEM. */
  readonly private: string;
  /** One line, as in `authorized_keys`. */
  readonly public: string;
}

export function makeSshKey(): SshKey {
  const key = utils.generateKeyPairSync('ed25519');
  // The library writes one key in 256 in a form that it cannot read: those whose first byte is zero.
  return utils.parseKey(key.public) instanceof Error ? makeSshKey() : key;
}

export interface SshGitServer {
  readonly port: number;
  /** What `ssh-keyscan` would print. */
  readonly knownHosts: string;
  /** The commands that clients asked for. */
  readonly commands: string[];
  /** How many commands ran at once, at most. */
  readonly busiest: () => number;
  /** How many clients have tried to sign in. */
  readonly logins: () => number;
  close(): Promise<void>;
}

/** A real SSH server on this machine. It runs `git-upload-pack` below a directory for whoever has one key, and nothing else. */
export async function serveGitOverSsh(root: string, authorized: SshKey): Promise<SshGitServer> {
  const host = makeSshKey();
  const allowed = parsed(authorized.public);
  const commands: string[] = [];
  let logins = 0;
  let running = 0;
  let busiest = 0;
  const server = new Server({ hostKeys: [host.private] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (request) => {
      if (request.method !== 'publickey') return request.reject(['publickey']);
      logins += 1;
      const isKnown = request.key.data.equals(allowed.getPublicSSH());
      const { blob, signature, hashAlgo } = request;
      // A request without a signature asks whether the key would do.
      const isProven = !signature || (blob !== undefined && allowed.verify(blob, signature, hashAlgo) === true);
      return isKnown && isProven ? request.accept() : request.reject(['publickey']);
    });
    client.on('session', (accept) => {
      accept().on('exec', (acceptCommand, refuse, { command }) => {
        commands.push(command);
        const path = /^git-upload-pack '(\/[\w./-]+)'$/.exec(command)?.[1];
        if (path === undefined || path.includes('..')) return refuse();
        running += 1;
        busiest = Math.max(busiest, running);
        const stream = acceptCommand();
        const git = spawn('git-upload-pack', [join(root, path)], {
          env: {
            PATH: process.env['PATH'],
            HOME: root,
            GIT_CONFIG_COUNT: '1',
            GIT_CONFIG_KEY_0: 'safe.directory',
            GIT_CONFIG_VALUE_0: '*',
          },
        });
        stream.pipe(git.stdin);
        git.stdin.on('error', () => undefined);
        git.stdout.pipe(stream, { end: false });
        git.stderr.pipe(stream.stderr, { end: false });
        git.on('close', (code) => {
          running -= 1;
          stream.exit(code ?? 1);
          stream.end();
        });
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    knownHosts: `[127.0.0.1]:${port} ${host.public}`,
    commands,
    busiest: () => busiest,
    logins: () => logins,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parsed(key: string) {
  const found = utils.parseKey(key);
  if (found instanceof Error) throw found;
  return found;
}
