import { describe, expect, it } from 'vitest';
import { isDependencyUnavailable } from '#api/edge/errors/unavailability.ts';
import { databaseFailures } from '#test/support/database/database-failures.ts';

describe('a request that fails with an error of the database', () => {
  it.each(databaseFailures)('may be sent again unless the error is final: %s is %s', (_what, kind, error) => {
    expect(isDependencyUnavailable(error)).toBe(kind !== 'final');
    expect(isDependencyUnavailable(new Error('the command failed', { cause: error }))).toBe(kind !== 'final');
  });
});

describe('a request that fails with an error of the engine', () => {
  const grpc = (code: number) =>
    Object.assign(new Error('failed'), { code, details: 'the engine said so', metadata: {} });

  it.each([
    ['DEADLINE_EXCEEDED', grpc(4), true],
    ['RESOURCE_EXHAUSTED', grpc(8), true],
    ['UNAVAILABLE', grpc(14), true],
    ['NOT_FOUND', grpc(5), false],
    ['INVALID_ARGUMENT', grpc(3), false],
    ['a failed connection', Object.assign(new Error('transport error'), { name: 'TransportError' }), true],
    ['a connection that took too long', new Error('Failed to connect before the deadline'), true],
    ['a number that is no gRPC code', Object.assign(new Error('failed'), { code: 14 }), false],
  ])('may be sent again if the engine is unreachable: %s', (_what, error, isUnavailable) => {
    expect(isDependencyUnavailable(error)).toBe(isUnavailable);
    expect(isDependencyUnavailable(new Error('the start failed', { cause: error }))).toBe(isUnavailable);
  });
});
