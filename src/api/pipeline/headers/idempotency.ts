import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Invalid } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import type { CommandOperation, Operation } from '../operation.ts';

const headerName = 'idempotency-key';

/**
 * The idempotency key of a command: that of the header, a new one if the operation makes keys optional, or null if the operation accepts
 * none. For a read that asks about a command, or that only checks the key: the key of the header.
 * (specification, *Original-key outcome and command keys*, rule 1)
 * @throws Invalid if the header is required and missing, appears twice, or is not a canonical UUID
 */
export function commandKey(operation: Operation, request: FastifyRequest): string | null {
  if (operation.idempotency === undefined || operation.idempotency === 'none') return null;
  const key = readKey(request) ?? newKey(operation);
  if (key !== undefined) return key;
  if (operation.idempotency === 'checked') return null;
  const remedy =
    operation.kind === 'read'
      ? 'send the key of the command that you ask about'
      : 'send a new lowercase UUID, and the same UUID again to repeat this request';
  throw new Invalid(`the header Idempotency-Key is required: ${remedy}`);
}

/**
 * Like `commandKey`, for a form, which sends the key in a field. `sent` is undefined if the form has no such field. Browsers submit a form
 * again when somebody presses its button twice or reloads the page, so every command accepts the key of a form.
 * @throws Invalid
 */
export function formKey(operation: CommandOperation, sent: string | undefined): string | null {
  const key = sent ?? newKey(operation);
  if (key === undefined && operation.idempotency === 'none') return null;
  if (key === undefined || !isId(key))
    throw new Invalid('the form has no valid key: reload its page and submit it again');
  return key;
}

function newKey(operation: Operation): string | undefined {
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
    throw new Invalid(
      'the header Idempotency-Key must be a canonical lowercase UUID other than zero: make one of version 5 from another name, such as the id of a CI job',
    );
  }
  return value;
}
