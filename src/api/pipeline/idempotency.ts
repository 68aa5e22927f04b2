import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Invalid } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import type { CommandOperation, Operation } from './operation.ts';

const headerName = 'idempotency-key';

/**
 * The key of a command: the one that was sent, a fresh one where the operation takes but does not demand one, or null.
 * The same for a read that asks about a command.
 * (specification, *Original-key outcome and command keys*, rule 1)
 */
export function commandKey(operation: Operation, request: FastifyRequest): string | null {
  if (operation.idempotency === undefined || operation.idempotency === 'none') return null;
  const key = readKey(request) ?? freshKey(operation);
  if (key !== undefined) return key;
  const remedy =
    operation.kind === 'read'
      ? 'send the key of the command that you ask about'
      : 'send a fresh lowercase UUID, and the same one again to repeat this request';
  throw new Invalid(`the header Idempotency-Key is required: ${remedy}`);
}

/** The same for a form, which carries the key in a field of its own; undefined: it carries none. */
export function formKey(operation: CommandOperation, sent: string | undefined): string | null {
  if (operation.idempotency === 'none') return null;
  const key = sent ?? freshKey(operation);
  if (key === undefined || !isId(key))
    throw new Invalid('the form has no valid key: open its page again and resubmit it');
  return key;
}

function freshKey(operation: Operation): string | undefined {
  return operation.idempotency === 'optional' ? randomUUID() : undefined;
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
