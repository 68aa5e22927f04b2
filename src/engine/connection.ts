import { Client, Connection } from '@temporalio/client';
import type { TemporalConfig } from '#config';
import { chainOf } from '#database/error-chain.ts';

/**
 * A client of the workflow engine. It connects at its first use, so that a process starts while the engine is unreachable. It
 * tries each call once: a failed message stays in the outbox, and a call that the SDK retries could outlive the connection.
 */
export interface Engine {
  readonly client: Client;
  /** Asks the engine for the namespace, and returns the namespace's id. @throws if the engine cannot be reached */
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
  return chainOf(error).some((link) => {
    const code = grpcCodeOf(link);
    if (code !== undefined) return unreachableCodes.has(code);
    return link.name === 'TransportError' || /failed to connect/i.test(link.message);
  });
}

/** The code of a gRPC error; undefined for any other error. Other errors have a number as their code, but no details as a text. */
function grpcCodeOf(error: Error): number | undefined {
  const { code, details } = error as { code?: unknown; details?: unknown };
  return typeof code === 'number' && typeof details === 'string' ? code : undefined;
}
