import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Account } from '../account/account.ts';
import { giveDirectory } from '../account/ownership.ts';
import { type Guarded, spawnGuarded } from '../guard.ts';
import {
  type EmbeddedTemporal,
  findTemporalProgram,
  hasWorkflows,
  keepLongEnough,
  serverArguments,
  serverEnvironment,
  untilStarted,
} from '../temporal.ts';
import { openFront } from './front.ts';
import { isolate } from './isolation.ts';

type Options = {
  /** Where `temporal.db` is kept. */
  readonly directory: string;
  /** The directory of its socket, which nobody but the account may enter. */
  readonly sockets: string;
  readonly namespace: string;
  readonly logFile: string;
  /** Who the server runs as; null: this process's own user. */
  readonly account: Account | null;
};

/** Nobody else is in the server's network: its ports need not be free anywhere. */
const ports = { grpc: 7233, http: 7243 };

/**
 * Hands the connections that come to the socket on to the server, and becomes the server. Where the relay ends, the
 * server ends as well: without the relay nobody reaches it.
 */
const serveScript = `
socket=$1 port=$2
shift 2
(socat "UNIX-LISTEN:$socket,fork,unlink-early,mode=0600" "TCP4:127.0.0.1:$port,nodelay"; kill -s TERM $$) &
exec "$@"
`;

/**
 * Starts the Temporal development server in a network of its own. It asks nobody who they are, so it is reached only
 * through a socket in a directory that is closed to others, and through a front on loopback that lets in this process's
 * user and the account. `whyNotIsolated` says whether the machine can do it.
 * @throws StartError
 */
export async function startPrivateTemporal(options: Options): Promise<EmbeddedTemporal> {
  const { directory, sockets, namespace, logFile, account } = options;
  const socket = join(sockets, 'temporal.sock');
  const isNew = !hasWorkflows(directory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (account !== null) giveDirectory(directory, account);
  const open = () => connect(socket);
  const server = await untilStarted({ open, namespace, logFile }, () => spawnServer(options, socket));
  if (isNew) keepLongEnough(open, namespace);
  const users = [process.getuid?.(), account?.uid].filter((user) => user !== undefined);
  const front = await openFront(socket, new Set(users));
  return {
    address: front.address,
    exited: server.exited,
    stop: async () => {
      await front.close();
      await server.stop();
    },
  };
}

function spawnServer({ directory, sockets, namespace, logFile, account }: Options, socket: string): Promise<Guarded> {
  const program = findTemporalProgram();
  return spawnGuarded({
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
    prefix: isolate({ readable: [program], writable: [directory, sockets] }, account),
    logFile,
    stopSignal: 'TERM',
    graceSeconds: 10,
    environment: { ...serverEnvironment(logFile), TMPDIR: directory },
  });
}
