import { once } from 'node:events';
import { createServer } from 'node:net';
import { hasCode, StartError } from './errors.ts';

/** Finds a port that is free now, on loopback unless another address is given. */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  return (await tryPort(host, 0)).port;
}

/** @throws StartError if a process cannot listen on the address */
export async function assertPortFree(host: string, port: number, setting: string): Promise<void> {
  try {
    await tryPort(host, port);
  } catch (error) {
    throw explainListenError(error, host, port, setting) ?? error;
  }
}

/** Explains why listening failed; null for any other error. */
export function explainListenError(error: unknown, host: string, port: number, setting: string): StartError | null {
  if (hasCode(error, 'EADDRINUSE')) {
    return new StartError(
      `Port ${port} on ${host} is in use: stop the program that uses it, or choose another port with ${setting} (0: the system chooses one).`,
    );
  }
  if (hasCode(error, 'EACCES')) {
    return new StartError(`This user may not listen on port ${port}: choose a port above 1023 with ${setting}.`);
  }
  if (hasCode(error, 'EADDRNOTAVAIL') || hasCode(error, 'ENOTFOUND')) {
    const hostSetting = setting.replace('_PORT', '_HOST');
    return new StartError(`${host} is not an address of this machine: set ${hostSetting} to one that is.`);
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
