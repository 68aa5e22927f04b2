import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/**
 * Sends the log of the engine's SDK to the service's log, and leaves the handling of signals to this program. Call it once in a process.
 */
export function installEngineRuntime(log: Logger): void {
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      // The worker of a pool executes only attempts, so it needs no workflows.
      const expected = message.startsWith('No workflows registered');
      log[expected ? 'debug' : levels[level]]({ engine: describeLogMeta(meta) }, message);
    }),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
  });
}

/** Returns only fields that never contain data of a run. */
function describeLogMeta(meta: Record<string | symbol, unknown> | undefined) {
  const { taskQueue, workflowId, workflowType, activityType, attempt } = meta ?? {};
  const error = meta?.['error'];
  return {
    taskQueue,
    workflowId,
    workflowType,
    activityType,
    attempt,
    error: error instanceof Error ? error.message : undefined,
  };
}
