/** The SQLSTATE of a database error, or the system's code of a broken connection; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
  }
  return undefined;
}

/** The name of the constraint that a statement violated; undefined where it violated none. */
export function brokenConstraint(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('constraint' in current && typeof current.constraint === 'string') return current.constraint;
  }
  return undefined;
}

const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'ENOENT',
  'EHOSTUNREACH',
  '57P01',
  '57P02',
  '57P03',
  '08000',
  '08003',
  '08006',
  '08001',
  '08004',
  '53300',
]);

/** Whether the database could not be reached or the connection broke. The result of the statement is unknown then. */
export function isConnectionError(error: unknown): boolean {
  const code = sqlState(error);
  if (code !== undefined) return connectionCodes.has(code);
  return (
    error instanceof Error &&
    /connection terminated|connection ended|not queryable|timeout exceeded when trying to connect|after calling end/i.test(
      error.message,
    )
  );
}

/** Whether an error is such an error or was directly caused by one, such as the error about a commit with an unknown outcome. */
export function isDatabaseAway(error: unknown): boolean {
  return isConnectionError(error) || (error instanceof Error && isConnectionError(error.cause));
}

const transientState = /^(?:40001|40P01|55P03|57014|57P05|58030|53[0-9A-Z]{3})$/;

/** Whether the database refused for a reason that may pass: a deadlock, no memory, a full disk. */
export function isTransientError(error: unknown): boolean {
  return transientState.test(sqlState(error) ?? '');
}

/** Whether the database was reached and refused the statement. */
export function isDatabaseRefusal(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(sqlState(error) ?? '') && !isDatabaseAway(error);
}
