import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { makeCertificate } from './certificate.ts';

/**
 * A registry of modules and a cluster, as far as the real `init` and the real `kubectl` ask them. Registries are known by names without a port, so
 * it listens at port 443, which needs root.
 */
export interface Counterpart {
  /** The address, which is also the name of the registry. */
  readonly host: string;
  /** The certificate that signs itself, in PEM. */
  readonly ca: string;
  /** The requests, as method and path. */
  readonly requests: string[];
  close(): Promise<void>;
}

const host = '127.0.0.9';

/** Starts a server that answers only requests with one of the tokens. `directory` keeps its files. */
export async function serveRegistryAndCluster(
  directory: string,
  tokens: { readonly registry: string; readonly cluster: string },
): Promise<Counterpart> {
  const { key, cert } = makeCertificate(directory, host);
  const archive = packModule(directory);
  const requests: string[] = [];
  const answer = ({ url = '', headers }: IncomingMessage): Answer => {
    if (url === '/.well-known/terraform.json') return json({ 'modules.v1': '/modules/' });
    // The tools send no credentials to where a registry says that an archive is.
    if (url.startsWith('/archive/'))
      return { status: 200, body: archive, headers: { 'content-type': 'application/gzip' } };
    const isRegistry = url.startsWith('/modules/');
    const wanted = `Bearer ${isRegistry ? tokens.registry : tokens.cluster}`;
    if (headers.authorization !== wanted) return json({ kind: 'Status', status: 'Failure', code: 401 }, 401);
    return isRegistry ? answerRegistry(url) : answerCluster(url);
  };
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    send(response, answer(request));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(443, host, resolve));
  return {
    host,
    ca: readFileSync(cert, 'utf8'),
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

function json(value: unknown, status = 200): Answer {
  return { status, body: JSON.stringify(value), headers: { 'content-type': 'application/json' } };
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, headers).end(body);
}

function answerRegistry(url: string): Answer {
  if (url === '/modules/acme/network/null/versions') return json({ modules: [{ versions: [{ version: '1.0.0' }] }] });
  if (url === '/modules/acme/network/null/1.0.0/download')
    return { status: 204, body: '', headers: { 'x-terraform-get': `https://${host}/archive/network.tar.gz` } };
  return json({ errors: ['not found'] }, 404);
}

const verbs = ['get', 'list'];
const configMaps = { name: 'configmaps', singularName: 'configmap', namespaced: true, kind: 'ConfigMap', verbs };

function answerCluster(url: string): Answer {
  const [path] = url.split('?');
  if (path === '/api') return json({ kind: 'APIVersions', versions: ['v1'] });
  if (path === '/apis') return json({ kind: 'APIGroupList', apiVersion: 'v1', groups: [] });
  if (path === '/api/v1') return json({ kind: 'APIResourceList', groupVersion: 'v1', resources: [configMaps] });
  if (path === '/api/v1/namespaces/team-a/configmaps/settings')
    return json({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'settings' }, data: { region: 'eu-north' } });
  return json({ kind: 'Status', status: 'Failure', code: 404 }, 404);
}

function packModule(directory: string): Buffer {
  const path = join(directory, 'network.tar.gz');
  writeFileSync(join(directory, 'main.tf'), 'output "region" { value = "from the private module" }\n');
  execFileSync('tar', ['czf', path, '-C', directory, 'main.tf']);
  return readFileSync(path);
}
