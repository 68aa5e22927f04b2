import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import type { Invocation } from '#api/pipeline/invocation/invocation.ts';
import { toCommand } from '#api/pipeline/invocation/to-command.ts';
import type { CommandOperation } from '#api/pipeline/operation.ts';
import type { Services } from '#api/services.ts';
import { anonymous } from '#domain/shared/access/principal.ts';

describe('a command whose body is exact bytes', () => {
  it('is bound to the digest of the bytes, and not to the bytes', async () => {
    const importing = operations.filter((one) => one.exactBodyLimit !== undefined) as CommandOperation[];
    expect(importing.length).toBeGreaterThan(0);
    for (const operation of importing) {
      const invocation: Invocation<CommandOperation> = {
        operation,
        operations,
        principal: anonymous,
        request: { id: 'request', ip: '127.0.0.1', headers: {} } as unknown as FastifyRequest,
        services: {} as Services,
        input: { params: {}, query: {}, body: Buffer.from('{"version": 4}') },
      };
      const digest = { sha256: 'digest' };
      const command = await toCommand(invocation, null, digest);
      expect(command.input).toBe(digest);
      expect(command.resolved?.input).toBe(digest);
    }
  });
});
