import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import type { TemporalConfig } from '#config';

/**
 * A client of the workflow engine. It connects at its first use, so that a process starts while the engine is unreachable. It
 * tries each call once: a failed message stays in the outbox, and a call that the SDK retries could outlive the connection.
 */
export interface Engine {
  readonly client: Client;
  /** Asks the engine for the namespace and answers the namespace's id. @throws where the engine cannot be reached */
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

/** The gRPC codes of a server that cannot be reached, does not answer, or is just starting. */
const unreachableCodes = new Set([4, 8, 14]);

/** Whether a call failed because the engine could not be reached. The same call may succeed later. */
export function isEngineUnreachable(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isGrpcServiceError(current)) return unreachableCodes.has(current.code);
    if (current.name === 'TransportError' || /failed to connect/i.test(current.message)) return true;
  }
  return false;
}
