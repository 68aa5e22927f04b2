import { chainOf } from '#domain/shared/logging/error-chain.ts';

/** SQLSTATEs after which a retry may succeed: connections, resources, shutdown, locks. */
const transientStates: readonly RegExp[] = [
  /^08(?!P01)/, // connection exceptions; 08P01 is how PostgreSQL reports a NUL in a text
  /^53/, // insufficient resources, too many connections
  /^57P0/, // shutdown, crash, starting up
  /^57014$/, // statement timeout
  /^55P03$/, // lock not available
  /^40(001|P01)$/, // serialization failure, deadlock
  /^25006$/, // read-only: a standby after a failover
];

const networkCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Messages of the PostgreSQL driver and its pool that come without a code. */
const driverMessages: readonly RegExp[] = [
  /^Connection terminated/,
  /^timeout exceeded when trying to connect/,
  /^Client has encountered a connection error/,
  /^Cannot use a pool after calling end/,
  /^Query read timeout/,
];

/** gRPC: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE. */
const transientGrpc: ReadonlySet<number> = new Set([4, 8, 14]);

/** SQLSTATEs of violated constraints: unique, foreign key, exclusion. */
const conflictStates: ReadonlySet<string> = new Set(['23505', '23503', '23P01']);

/** Whether an error or one of its causes says that the database or the workflow engine is unavailable or overloaded. */
export function isDependencyUnavailable(error: unknown): boolean {
  return chainOf(error).some((link) => {
    const { code, details } = link as { code?: unknown; details?: unknown };
    if (typeof code === 'number') return transientGrpc.has(code) && typeof details === 'string';
    if (typeof code === 'string' && networkCodes.has(code)) return true;
    if (typeof code === 'string' && transientStates.some((state) => state.test(code))) return true;
    return driverMessages.some((message) => message.test(link.message));
  });
}

/** Whether the database refused a change because of a concurrent change. */
export function isConcurrentConflict(error: unknown): boolean {
  return chainOf(error).some((link) => conflictStates.has(String((link as { code?: unknown }).code)));
}
