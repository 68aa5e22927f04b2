import { connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';

/**
 * The two calls that `start` makes to the Temporal server. The SDK would use more memory than the rest of this process,
 * so the messages are encoded by hand, as temporal/api/workflowservice/v1/request_response.proto defines them.
 */

/** Opens a new connection to the server. */
export type OpenConnection = () => Socket;

/** Short for the call that is repeated while the server starts, and long for the call that is made only once. */
const timeoutsMs = { describe: 2_000, update: 30_000 };

/** Whether the server answers and has the namespace. */
export function hasNamespace(open: OpenConnection, namespace: string): Promise<boolean> {
  return call(open, 'DescribeNamespace', bytesField(1, Buffer.from(namespace)), timeoutsMs.describe);
}

/** Sets how long the histories of finished workflows are kept. @returns whether the server accepted it */
export function setRetention(open: OpenConnection, namespace: string, seconds: number): Promise<boolean> {
  const duration = Buffer.concat([Buffer.from([1 << 3]), varint(seconds)]);
  const config = bytesField(1, duration);
  const message = Buffer.concat([bytesField(1, Buffer.from(namespace)), bytesField(3, config)]);
  return call(open, 'UpdateNamespace', message, timeoutsMs.update);
}

/** Makes one gRPC call. @returns false if the call or its connection fails, or takes too long */
function call(open: OpenConnection, method: string, message: Buffer, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connectHttp2('http://temporal', { createConnection: open });
    const finish = (isDone: boolean) => {
      clearTimeout(timer);
      session.destroy();
      resolve(isDone);
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    session.once('error', () => finish(false));
    const request = session.request({
      ':method': 'POST',
      ':path': `/temporal.api.workflowservice.v1.WorkflowService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    request.once('error', () => finish(false));
    for (const event of ['response', 'trailers'] as const) {
      request.once(event, (headers) => {
        if (headers['grpc-status'] !== undefined) finish(headers['grpc-status'] === '0');
      });
    }
    request.once('close', () => finish(false));
    request.resume();
    request.end(frame(message));
  });
}

function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function bytesField(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2]), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}
