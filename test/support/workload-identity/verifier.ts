import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Verdict {
  readonly accepted: boolean;
  /** Why `jose` refuses the token. */
  readonly code?: string;
  readonly claims?: Record<string, unknown>;
}

/** A process that verifies tokens with `jose`, and finds the keys by discovery. */
export interface Verifier {
  verify(token: string, expected: { audience: string; subject?: string }): Promise<Verdict>;
  stop(): Promise<void>;
}

export function startVerifier(issuer: string): Verifier {
  const main = fileURLToPath(new URL('../../api/workload-identity/verifier-main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, issuer], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    verify: async (token, expected) => {
      child.stdin.write(`${JSON.stringify({ token, ...expected })}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error('the verifier has ended');
      return JSON.parse(value);
    },
    stop: () => {
      child.stdin.end();
      return ended;
    },
  };
}

/** A port on loopback that is free now. An issuer has to know its URL before it listens. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  return address.port;
}
