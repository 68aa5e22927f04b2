import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers with text. For a refusal, git prints this text before its own message. */
export function answerText(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${text}\n`);
}

const passingHeaders = ['content-type', 'content-encoding', 'content-length', 'accept-ranges', 'content-disposition'];

/** Forwards an answer, with the headers that describe its content and no others. */
export function passOn(answer: IncomingMessage, response: ServerResponse, added: Record<string, string> = {}): void {
  const kept = passingHeaders.flatMap((name) => {
    const value = answer.headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  answer.on('error', () => response.destroy());
  answer.on('close', () => answer.complete || response.destroy());
  response.writeHead(answer.statusCode ?? 502, { ...Object.fromEntries(kept), ...added, connection: 'close' });
  answer.pipe(response);
}
