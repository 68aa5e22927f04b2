import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import type { TemporalConfig } from '#config';

/**
 * A client of the workflow engine. Connects when it is first used, so that a process starts while the engine is away.
 * It tries each call once: what fails stays in the outbox, and a call of the SDK that sleeps between tries would outlive
 * the connection that it needs.
 */
export interface Engine {
  readonly client: Client;
  /** Resolves where the engine answers for the namespace; its id is answered. */
  check(): Promise<string>;
  close(): Promise<void>;
}

export function openEngine(config: TemporalConfig): Engine {
  const connection = Connection.lazy({
    address: config.address,
    connectTimeout: '5s',
    interceptors: [],
    ...(config.tls && { tls: config.tls }),
    ...(config.apiKey && { apiKey: config.apiKey }),
  });
  const client = new Client({ connection, namespace: config.namespace });
  return {
    client,
    check: async () => {
      const { namespaceInfo } = await connection.withDeadline(Date.now() + 3_000, () =>
        connection.workflowService.describeNamespace({ namespace: config.namespace }),
      );
      return namespaceInfo?.id ?? '';
    },
    close: () => connection.close(),
  };
}

/** gRPC's words for a server that cannot be reached, does not answer, or is just starting. */
const awayCodes = new Set([4, 8, 14]);

/** Whether the engine could not be reached: the same call may well succeed later. */
export function isEngineUnreachable(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isGrpcServiceError(current)) return awayCodes.has(current.code);
    if (current.name === 'TransportError' || /failed to connect/i.test(current.message)) return true;
  }
  return false;
}
