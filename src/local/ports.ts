import { once } from 'node:events';
import { createServer } from 'node:net';
import { hasCode, StartError } from './errors.ts';

/** A loopback port that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  return (await tryPort('127.0.0.1', 0)).port;
}

/** @throws StartError in one sentence when the address cannot be listened on */
export async function assertPortFree(host: string, port: number, setting: string): Promise<void> {
  try {
    await tryPort(host, port);
  } catch (error) {
    throw explainListenError(error, host, port, setting) ?? error;
  }
}

/** The sentence for a listener that could not be opened; null for any other error. */
export function explainListenError(error: unknown, host: string, port: number, setting: string): StartError | null {
  if (hasCode(error, 'EADDRINUSE')) {
    return new StartError(
      `Port ${port} on ${host} is taken: stop the program that uses it, or choose another port with ${setting} (0 lets the system choose).`,
    );
  }
  if (hasCode(error, 'EACCES')) {
    return new StartError(`Port ${port} needs more rights than this user has: choose one above 1023 with ${setting}.`);
  }
  if (hasCode(error, 'EADDRNOTAVAIL') || hasCode(error, 'ENOTFOUND')) {
    const hostSetting = setting.replace('_PORT', '_HOST');
    return new StartError(`${host} is not an address of this machine: give one of its own with ${hostSetting}.`);
  }
  return null;
}

async function tryPort(host: string, port: number): Promise<{ port: number }> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return { port: typeof address === 'object' && address !== null ? address.port : port };
}
