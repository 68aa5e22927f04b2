import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Invalid } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import type { CommandOperation } from './operation.ts';

const headerName = 'idempotency-key';

/**
 * The key of a command: the one that was sent, a fresh one where the operation takes but does not demand one, or null.
 * (specification, *Original-key outcome and command keys*, rule 1)
 */
export function commandKey(operation: CommandOperation, request: FastifyRequest): string | null {
  if (operation.idempotency === 'none') return null;
  const sent = readKey(request);
  if (sent !== undefined) return sent;
  if (operation.idempotency === 'optional') return randomUUID();
  throw new Invalid(
    'the header Idempotency-Key is required: send a fresh lowercase UUID, and the same one again to repeat this request',
  );
}

function readKey(request: FastifyRequest): string | undefined {
  const { rawHeaders } = request.raw;
  const values = rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === headerName,
  );
  if (values.length > 1) throw new Invalid('the header Idempotency-Key must appear exactly once');
  const [value] = values;
  if (value !== undefined && !isId(value)) {
    throw new Invalid('the header Idempotency-Key must be a canonical lowercase UUID other than zero');
  }
  return value;
}
