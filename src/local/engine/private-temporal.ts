import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Account } from '../account/account.ts';
import { chownTree } from '../account/chown.ts';
import { type NativeProcess, startNativeProcess } from '../native-process.ts';
import {
  type EmbeddedTemporal,
  extendRetention,
  findTemporalProgram,
  hasWorkflows,
  serverArguments,
  serverEnvironment,
  startWithRetries,
} from '../temporal.ts';
import { wrapInIsolation } from './isolation.ts';
import { openLoopbackProxy } from './loopback-proxy.ts';

type Options = {
  /** The directory of `temporal.db`. */
  readonly directory: string;
  /** The directory of its socket, which only the account may enter. */
  readonly sockets: string;
  readonly namespace: string;
  readonly logFile: string;
  /** The account that the server runs as; null: this process's own user. */
  readonly account: Account | null;
};

/** The server has its own network, so these ports are always free. */
const ports = { grpc: 7233, http: 7243 };

/**
 * Starts a relay that forwards connections from the socket to the server, and then becomes the server. If the relay ends, it ends the
 * server too, because the server could no longer be reached.
 */
const serveScript = `
socket=$1 port=$2
shift 2
(socat "UNIX-LISTEN:$socket,fork,unlink-early,mode=0600" "TCP4:127.0.0.1:$port,nodelay"; kill -s TERM $$) &
exec "$@"
`;

/**
 * Starts the Temporal development server in its own network. The server does not authenticate anybody. It is therefore reachable only
 * through a socket, in a directory that other users cannot enter, and through a proxy on loopback that accepts only this process's user and
 * the account. `findIsolationProblem` says whether the machine supports this.
 * @throws StartError
 */
export async function startPrivateTemporal(options: Options): Promise<EmbeddedTemporal> {
  const { directory, sockets, namespace, logFile, account } = options;
  const socket = join(sockets, 'temporal.sock');
  const isNew = !hasWorkflows(directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (account !== null) chownTree(directory, account);
  const open = () => connect(socket);
  const server = await startWithRetries({ open, namespace, logFile }, () => spawnServer(options, socket));
  if (isNew) extendRetention(open, namespace);
  const users = [process.getuid?.(), account?.uid].filter((user) => user !== undefined);
  const proxy = await openLoopbackProxy(socket, new Set(users));
  return {
    address: proxy.address,
    exited: server.exited,
    stop: async () => {
      await proxy.close();
      await server.stop();
    },
  };
}

function spawnServer(
  { directory, sockets, namespace, logFile, account }: Options,
  socket: string,
): Promise<NativeProcess> {
  const program = findTemporalProgram();
  return startNativeProcess({
    command: '/bin/sh',
    arguments: [
      '-c',
      serveScript,
      'serve',
      socket,
      String(ports.grpc),
      program,
      ...serverArguments({ ...ports, directory, namespace }),
    ],
    prefix: wrapInIsolation({ readable: [program], writable: [directory, sockets] }, account),
    logFile,
    stopSignal: 'TERM',
    graceSeconds: 10,
    environment: { ...serverEnvironment(logFile), TMPDIR: directory },
  });
}
