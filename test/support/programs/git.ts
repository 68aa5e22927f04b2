import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Real git repositories in a temporary directory, and a real `git http-backend` that serves them. */

const identity = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com', '-c', 'commit.gpgsign=false'];

export type TestFiles = Record<string, string | Buffer | { link: string } | { script: string }>;

export class Repository {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    this.git('init', '--quiet', '--initial-branch=main');
    appendFileSync(
      join(path, '.git', 'config'),
      '[http]\n\treceivepack = false\n[uploadpack]\n\tallowAnySHA1InWant = true\n',
    );
  }

  get url(): string {
    return `file://${this.path}`;
  }

  git(...args: string[]): string {
    const env = {
      PATH: process.env['PATH'],
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      HOME: this.path,
    };
    return execFileSync('git', [...identity, ...args], { cwd: this.path, env, encoding: 'utf8', stdio: 'pipe' }).trim();
  }

  /** Writes files, commits everything and returns the commit's id. */
  commit(files: TestFiles): string {
    for (const [name, content] of Object.entries(files)) this.#write(join(this.path, name), content);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--allow-empty', '--message', 'a change');
    return this.#readHead();
  }

  /** The commit of HEAD, without another process. */
  #readHead(): string {
    const read = (name: string) => readFileSync(join(this.path, '.git', name), 'utf8').trim();
    const head = read('HEAD');
    return head.startsWith('ref: ') ? read(head.slice(5)) : head;
  }

  #write(path: string, content: TestFiles[string]): void {
    mkdirSync(dirname(path), { recursive: true });
    if (typeof content === 'string' || Buffer.isBuffer(content)) writeFileSync(path, content);
    else if ('link' in content) symlinkSync(content.link, path);
    else {
      writeFileSync(path, content.script);
      chmodSync(path, 0o755);
    }
  }
}

/** Creates a directory for repositories; `remove` deletes it. */
export function makeGitRoot(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'coordinator-test-git-'));
  // If the tests run as root, git runs as another user.
  chmodSync(path, 0o755);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export type GitServer = { port: number; requests: IncomingMessage[]; close: () => Promise<void> };

type Handle = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Files of a certificate in PEM. */
interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/**
 * Serves the repositories below a directory over HTTP, or over HTTPS with a certificate. Requests that `handle` answers itself do not
 * reach git.
 */
export async function serveGit(
  root: string,
  handle: Handle = () => false,
  certificate?: Certificate,
  address = '127.0.0.1',
): Promise<GitServer> {
  const requests: IncomingMessage[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    if (!handle(request, response)) runBackend(root, request, response);
  };
  const server = certificate
    ? createSecureServer({ key: readFileSync(certificate.key), cert: readFileSync(certificate.cert) }, answer)
    : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, requests, close };
}

function runBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn('git', ['-c', 'safe.directory=*', 'http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    const headers = output.subarray(0, end).toString().split('\r\n');
    for (const header of headers) {
      const [name = '', value = ''] = header.split(/: (.*)/s);
      if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
      else if (name !== '') response.setHeader(name, value);
    }
    response.end(output.subarray(end + 4));
  });
}
