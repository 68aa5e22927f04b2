import type { FastifyRequest } from 'fastify';
import { anonymous } from '#domain/shared/access/principal.ts';

export function isSignedIn(request: FastifyRequest): boolean {
  return request.principal !== anonymous;
}
