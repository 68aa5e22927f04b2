import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** An answer other than JSON: a text, a download, or a stream of events that a function writes. */
export class RawAnswer {
  readonly send: (request: FastifyRequest, reply: FastifyReply) => unknown;

  private constructor(send: (request: FastifyRequest, reply: FastifyReply) => unknown) {
    this.send = send;
  }

  /** Content of a given type. With a file name it is a download. */
  static of(contentType: string, content: string | Buffer | Readable, fileName?: string): RawAnswer {
    return new RawAnswer((_request, reply) => {
      if (fileName) reply.header('content-disposition', `attachment; filename="${fileName}"`);
      reply.header('content-type', contentType);
      // The content must not be encoded by a JSON schema.
      reply.serializer((payload: unknown) => payload as string);
      return reply.send(content);
    });
  }

  /** The writer takes full control of the reply. */
  static by(writer: (request: FastifyRequest, reply: FastifyReply) => unknown): RawAnswer {
    return new RawAnswer(writer);
  }
}
