import type { FastifyReply } from 'fastify';
import { parsePart } from '#api/edge/json/validation.ts';
import type { UploadLimit } from '#api/edge/limits/upload-limit.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { auditingRefusals } from '../audit/auditing.ts';
import type { Invocation } from './invocation.ts';
import { authorizeCall } from './invoke.ts';

/**
 * Authorizes the target in the path before a large body is read, so that only bodies that may be uploaded count towards the limit. Counts
 * the upload until the request is over. All credentials and service accounts of one responsible person count as that person.
 * @throws Invalid for a malformed path; Forbidden, HiddenResource; HttpProblem (429) at the limit
 */
export async function admitUpload(invocation: Invocation, limit: UploadLimit, reply: FastifyReply): Promise<void> {
  await auditingRefusals(invocation, () => authorizePath(invocation));
  reply.raw.once('close', limit.begin(limitSubjectOfCaller(invocation.principal)));
}

async function authorizePath(invocation: Invocation): Promise<void> {
  const { operation, input, services } = invocation;
  const path = operation.params && parsePart(operation.params, 'path', input.params);
  if (path?.error) throw path.error;
  const named = { params: path?.value ?? {}, query: {}, body: {} };
  await authorizeCall({ ...invocation, input: named }, services.orm.em.fork());
}
