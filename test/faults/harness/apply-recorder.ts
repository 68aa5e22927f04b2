import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

/** A server that records, one line each, which applies have begun. Their pool allows them to reach it. */
export interface ApplyRecorder {
  /** The file of the records. */
  readonly path: string;
  readonly port: number;
  close(): void;
}

export async function startApplyRecorder(directory: string): Promise<ApplyRecorder> {
  const path = join(directory, 'applies');
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

/** The egress policy of the pool, so that its applies reach the recorder. */
export const recorderEgress = { policy: 'allow', allow: ['127.0.0.1/32'] };

/** A script for templates that records its argument, through the proxy of its sandbox. */
export function recordScript(port: number): string {
  return `#!/bin/bash
proxy=\${HTTP_PROXY#http://}
exec 3<>"/dev/tcp/\${proxy%:*}/\${proxy##*:}" || exit 9
printf 'POST http://127.0.0.1:${port}/%s HTTP/1.1\\r\\nHost: recorder\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n' "$1" >&3
grep -q '^HTTP/1.1 200' <&3
`;
}
