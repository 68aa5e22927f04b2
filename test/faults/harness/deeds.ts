import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

/** What applies did outside of everything, a line each; kept by a server that their pool lets them reach. */
export interface Deeds {
  readonly path: string;
  readonly port: number;
  close(): void;
}

export async function openDeeds(directory: string): Promise<Deeds> {
  const path = join(directory, 'deeds');
  appendFileSync(path, '');
  const server = createServer((request, response) => {
    appendFileSync(path, `${decodeURIComponent(request.url?.slice(1) ?? '')}\n`);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    path,
    port: typeof address === 'object' && address ? address.port : 0,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What a pool allows, so that its applies reach the server. */
export const deedsEgress = { policy: 'allow', allow: ['127.0.0.1/32'] };

/** A program for templates: leaves its argument with the server, by the proxy of its sandbox. */
export function deedScript(port: number): string {
  return `#!/bin/bash
proxy=\${HTTP_PROXY#http://}
exec 3<>"/dev/tcp/\${proxy%:*}/\${proxy##*:}" || exit 9
printf 'POST http://127.0.0.1:${port}/%s HTTP/1.1\\r\\nHost: deeds\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n' "$1" >&3
grep -q '^HTTP/1.1 200' <&3
`;
}
