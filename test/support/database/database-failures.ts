/**
 * `disconnected`: the statement's result is unknown; `readOnly`: the server takes no writes now; `temporary`: the server refused for a
 * reason that may pass; `final`: repeating the statement would fail again.
 */
export type DatabaseFailureKind = 'disconnected' | 'readOnly' | 'temporary' | 'final';

const withCode = (code: string, more: object = {}) => Object.assign(new Error('failed'), { code, ...more });

const codes: Readonly<Record<DatabaseFailureKind, readonly string[]>> = {
  disconnected: [
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    '08000',
    '08001',
    '08003',
    '08004',
    '08006',
    '08007',
    '53300',
    '57P01',
    '57P02',
    '57P03',
    '57P04',
  ],
  readOnly: ['25006'],
  temporary: ['40001', '40P01', '53000', '53100', '53200', '53400', '55P03', '57014', '57P05', '58030'],
  final: ['08P01', '22003', '22P02', '23505', '25P02', '42703', '42P01', 'P0001', 'XX000', 'EPERM', 'EACCES'],
};

/** The driver and its pool report these without a code. */
const messages: Readonly<Record<'disconnected' | 'final', readonly string[]>> = {
  disconnected: [
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Cannot use a pool after calling end on the pool',
  ],
  final: ['Query values must be an array', 'a transaction in which a statement had failed could not be committed'],
};

/** Every way in which the database fails, as `[what it is, its kind, the error]`. */
export const databaseFailures: readonly (readonly [string, DatabaseFailureKind, Error])[] = [
  ...entriesOf(codes).map(([kind, code]) => [code, kind, withCode(code)] as const),
  ...entriesOf(messages).map(([kind, message]) => [message, kind, new Error(message)] as const),
  ['a missing socket of the database', 'disconnected', withCode('ENOENT', { syscall: 'connect' })],
  ['a missing file', 'final', withCode('ENOENT', { syscall: 'open' })],
];

function entriesOf<Kind extends string>(table: Readonly<Record<Kind, readonly string[]>>): [Kind, string][] {
  return (Object.keys(table) as Kind[]).flatMap((kind) => table[kind].map((entry): [Kind, string] => [kind, entry]));
}
