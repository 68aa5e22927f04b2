import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { writeZip } from '#test/executors/opentofu/plan-file/zip-writer.ts';
import { providerPlatform, readBuiltProvider } from './providers.ts';

/** A network mirror of providers, over TLS. */
export interface NetworkMirror {
  /** The URL of the mirror. */
  readonly url: string;
  /** The requests, as method and path. */
  readonly requests: string[];
  /** The archives, by name. A test can replace their bytes. */
  readonly archives: Map<string, Buffer>;
  /** Whether it answers every request with 503. */
  isDown: boolean;
  close(): Promise<void>;
}

interface ServedProvider {
  readonly name: 'time' | 'local';
  readonly version: string;
}

/** Serves real providers under `mirror.test/hashicorp` on this machine, which clients know by the address. */
export async function serveNetworkMirror(
  { key, cert }: { readonly key: string; readonly cert: string },
  address: string,
  providers: readonly ServedProvider[],
): Promise<NetworkMirror> {
  const requests: string[] = [];
  const archives = new Map(providers.map((each) => [archiveName(each), packProvider(each)] as const));
  const mirror = { requests, archives, isDown: false };
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const path = request.url ?? '';
    requests.push(`${request.method} ${path}`);
    const [, name = '', file = ''] = /^\/mirror\.test\/hashicorp\/([a-z]+)\/(.+)$/.exec(path) ?? [];
    const found = providers.filter((each) => each.name === name);
    const archive = archives.get(file);
    if (mirror.isDown) response.writeHead(503).end();
    else if (archive !== undefined) response.writeHead(200, { 'content-type': 'application/zip' }).end(archive);
    else answer(response, found, file);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(mirror, {
    url: `https://${address}:${port}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function answer(response: ServerResponse, found: readonly ServedProvider[], file: string): void {
  const versions = Object.fromEntries(found.map(({ version }) => [version, {}]));
  const one = found.find(({ version }) => file === `${version}.json`);
  const body =
    file === 'index.json' && found.length > 0
      ? { versions }
      : one && { archives: { [providerPlatform]: { url: archiveName(one) } } };
  response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
}

export function archiveName({ name, version }: ServedProvider): string {
  return `terraform-provider-${name}_${version}_${providerPlatform}.zip`;
}

/** Packs a real provider. Another license makes it another package of the same version. */
export function packProvider({ name, version, license = 'a license' }: ServedProvider & { license?: string }): Buffer {
  return writeZip([
    { name: `terraform-provider-${name}_v${version}`, content: readBuiltProvider(name), mode: 0o755 },
    { name: 'LICENSE', content: Buffer.from(license), mode: 0o644 },
  ]);
}
