import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { listTcpPorts } from '../../bench/resources/processes.ts';

it('the ports of a process are those of its own open connections', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(client, 'connect');
  const { localPort } = client;
  expect(listTcpPorts(process.pid)).toContain(localPort);
  expect(listTcpPorts(process.ppid)).not.toContain(localPort);
  client.destroy();
  server.close();
});
