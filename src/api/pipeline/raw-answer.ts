import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** An answer that is no JSON: a text, a download, or whatever a writer makes of the reply (a stream of events). */
export class RawAnswer {
  readonly send: (request: FastifyRequest, reply: FastifyReply) => unknown;

  private constructor(send: (request: FastifyRequest, reply: FastifyReply) => unknown) {
    this.send = send;
  }

  /** Bytes under a content type, with a file name where it is a download. */
  static of(contentType: string, content: string | Buffer | Readable, fileName?: string): RawAnswer {
    return new RawAnswer((_request, reply) => {
      if (fileName) reply.header('content-disposition', `attachment; filename="${fileName}"`);
      reply.header('content-type', contentType);
      // What is written here has no JSON schema to go through.
      reply.serializer((payload: unknown) => payload as string);
      return reply.send(content);
    });
  }

  /** The writer takes the reply over. */
  static by(writer: (request: FastifyRequest, reply: FastifyReply) => unknown): RawAnswer {
    return new RawAnswer(writer);
  }
}
