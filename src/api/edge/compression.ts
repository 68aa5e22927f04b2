import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';

const zip = promisify(gzip);

/** A shorter text fits into one packet, so compressing it saves nothing. */
const minLength = 1_000;

/** Whether the client accepts gzip for its request. */
export function acceptsGzip(request: FastifyRequest): boolean {
  return new Negotiator(request).encoding(['gzip', 'identity']) === 'gzip';
}

/**
 * Compresses a text for a client that accepts gzip, and sets the matching headers. An answer that repeats what its client sent and also
 * contains a secret must not be compressed, because its length would reveal something about the secret (BREACH).
 */
export async function compressFor(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<string | Buffer> {
  reply.header('vary', 'accept-encoding');
  if (text.length < minLength || !acceptsGzip(request)) return text;
  reply.header('content-encoding', 'gzip');
  return compress(text);
}

/** Compresses on another thread. */
export function compress(content: string | Buffer): Promise<Buffer> {
  return zip(content, { level: 5 });
}
