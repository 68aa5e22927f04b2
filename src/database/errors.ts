import { chainOf } from './error-chain.ts';

/** The SQLSTATE of a database error, or the system's code of a broken connection; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
  }
  return undefined;
}

/** The name of the constraint that a statement violated; undefined if it violated none. */
export function brokenConstraint(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('constraint' in current && typeof current.constraint === 'string') return current.constraint;
  }
  return undefined;
}

/**
 * Why a statement failed that may succeed later. `disconnected`: the database could not be reached or the connection broke, so the
 * result of the statement is unknown. `readOnly`: the server takes no writes, like a standby during a failover. `temporary`: the
 * server refused the statement for a reason that may pass, such as a deadlock or a full disk.
 */
type Outage = 'disconnected' | 'readOnly' | 'temporary';

/** SQLSTATEs and the system's codes. The first pattern that matches counts. */
const outageOfCode: readonly (readonly [RegExp, Outage])[] = [
  [/^(?:ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/, 'disconnected'],
  [/^08(?!P01)/, 'disconnected'], // 08P01 is how PostgreSQL reports a NUL in a text
  [/^57P0[1-4]$/, 'disconnected'], // shutdown, crash, starting up, database dropped
  [/^53300$/, 'disconnected'], // too many connections
  [/^25006$/, 'readOnly'],
  [/^40(?:001|P01)$/, 'temporary'], // serialization failure, deadlock
  [/^53/, 'temporary'], // no memory, full disk
  [/^55P03$/, 'temporary'], // lock not available
  [/^57(?:014|P05)$/, 'temporary'], // statement timeout, idle session
  [/^58030$/, 'temporary'], // input or output error
];

/** The PostgreSQL driver and its pool report a lost connection with these messages, without a code. */
const messageOfLostConnection =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Cannot use a pool after calling end|Client .* is not queryable)/;

/** Whether the database could not be reached or the connection broke. The result of the statement is unknown then. */
export function isConnectionError(error: unknown): boolean {
  return findOutage(error) === 'disconnected';
}

/** Whether the database is unreachable or read-only. The caller should wait until that has passed. */
export function isDatabaseUnreachable(error: unknown): boolean {
  const outage = findOutage(error);
  return outage === 'disconnected' || outage === 'readOnly';
}

/** Whether the database refused for a reason that may pass: a deadlock, no memory, a full disk. */
export function isTransientError(error: unknown): boolean {
  return findOutage(error) === 'temporary';
}

/** Whether repeating a failed statement may succeed later: the database was away, or refused for a reason that may pass. */
export function mayPass(error: unknown): boolean {
  return findOutage(error) !== undefined;
}

/** Whether the database was reached and refused the statement. */
export function isDatabaseRefusal(error: unknown): boolean {
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(sqlState(error) ?? '') && !isDatabaseUnreachable(error);
}

const conflictStates = /^(?:23505|23503|23P01)$/; // unique, foreign key, exclusion

/** Whether the database refused a change because of a concurrent change. */
export function isConcurrentConflict(error: unknown): boolean {
  return chainOf(error).some((link) => conflictStates.test(codeOf(link) ?? ''));
}

/** The outage that an error or one of its causes reports; undefined if repeating the statement would fail again. */
function findOutage(error: unknown): Outage | undefined {
  return chainOf(error).map(outageOf).find(Boolean);
}

function outageOf(error: Error): Outage | undefined {
  const code = codeOf(error);
  if (code === undefined) return messageOfLostConnection.test(error.message) ? 'disconnected' : undefined;
  if (code === 'ENOENT') return isMissingSocket(error) ? 'disconnected' : undefined;
  return outageOfCode.find(([pattern]) => pattern.test(code))?.[1];
}

/** Whether the socket of a database on this machine is missing. Other missing files have the same code. */
function isMissingSocket(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'connect';
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
