import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { EgressRefusal } from './refusal.ts';

/** How long a refused client may take to read the reason. */
const lingerMs = 1_000;

/** Carries bytes both ways. `pipe` pauses while the other side cannot take more, so little is buffered here. */
export function join(client: Duplex, remote: Socket, limits: { idleMs: number; halfOpenMs: number }): void {
  const destroyBoth = () => {
    client.destroy();
    remote.destroy();
  };
  client.on('error', destroyBoth);
  remote.on('error', destroyBoth);
  remote.setTimeout(limits.idleMs, destroyBoth);
  client.pipe(remote);
  remote.pipe(client);
  for (const side of [client, remote]) {
    // A side that has ended may wait for the other one's answer, but not for long without any bytes.
    side.once('end', () => remote.setTimeout(limits.halfOpenMs, destroyBoth));
    side.once('close', () => {
      if (!side.readableEnded || !side.writableFinished) destroyBoth();
    });
  }
}

/**
 * Answers a refused CONNECT. Go's HTTP client, which OpenTofu and its providers use, shows only the reason phrase of such an
 * answer, so the reason is repeated there.
 */
export function refuseTunnel(socket: Duplex, refusal: EgressRefusal): void {
  const body = `${refusal.message}\n`;
  const head = `HTTP/1.1 ${refusal.status} ${refusal.message}\r\ncontent-type: text/plain\r\nconnection: close\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
